package password

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
)

// tries is how many characters, or passwords, are thrown away one after the other before
// the source of randomness is taken for a broken one. Of a good one most are kept.
const tries = 200

// errRandom is for a source that gives the same again and again.
var errRandom = errors.New("the source of randomness gives no usable password: check the machine's random number generator")

// Generate makes a password of the recipe. The source is crypto/rand's Reader; tests
// bring another one. The password begins and ends with a letter or digit, repeats no
// character at once, has no run such as abc or 321, and does not hold the user's name
// forwards or backwards: BMCs refuse such, each for a reason of its own.
func Generate(random io.Reader, recipe Recipe, username string) (client.Secret, error) {
	parts := make([]string, len(recipe.Classes))
	for i, c := range recipe.Classes {
		parts[i] = alphabet[c]
	}
	all := strings.Join(parts, "")
	if all == "" || recipe.Length < len(recipe.Classes) {
		return "", fmt.Errorf("make a password of %d characters of %d classes: not possible", recipe.Length, len(recipe.Classes))
	}
	for range tries {
		made := make([]byte, 0, recipe.Length)
		for len(made) < recipe.Length {
			c, err := next(random, all, made, recipe.Length)
			if err != nil {
				return "", fmt.Errorf("make a password: %w", err)
			}
			made = append(made, c)
		}
		if text := string(made); hasAll(text, recipe.Classes) && !holds(text, username) {
			return client.Secret(text), nil
		}
	}
	return "", errRandom
}

// next is a character that may stand after those that were made.
func next(random io.Reader, from string, made []byte, length int) (byte, error) {
	for range tries {
		c, err := pick(random, from)
		if err != nil || fits(made, c, length) {
			return c, err
		}
	}
	return 0, errRandom
}

// pick is a character of the alphabet, each as likely as the others.
func pick(random io.Reader, from string) (byte, error) {
	fair := 256 - 256%len(from)
	var one [1]byte
	for range tries {
		if _, err := io.ReadFull(random, one[:]); err != nil {
			return 0, err
		}
		if int(one[0]) < fair {
			return from[int(one[0])%len(from)], nil
		}
	}
	return 0, errRandom
}

// fits reports whether a character may stand at the end of what was made: not twice in
// a row, not as the third of a run up or down, and no sign at either end, where it is
// taken for an option or a formula.
func fits(made []byte, c byte, length int) bool {
	n := len(made)
	if (n == 0 || n == length-1) && strings.IndexByte(alphabet[Symbol], c) >= 0 {
		return false
	}
	if n == 0 {
		return true
	}
	step := int(c) - int(made[n-1])
	run := n > 1 && (step == 1 || step == -1) && int(made[n-1])-int(made[n-2]) == step
	return step != 0 && !run
}

// hasAll reports a character of each class.
func hasAll(text string, want []Class) bool {
	for _, c := range want {
		if !strings.ContainsAny(text, alphabet[c]) {
			return false
		}
	}
	return true
}

// holds reports a user's name within a password, in either direction, whatever the case.
func holds(text, username string) bool {
	name := []rune(strings.ToLower(username))
	if len(name) < 3 {
		return false
	}
	back := make([]rune, len(name))
	for i, r := range name {
		back[len(name)-1-i] = r
	}
	text = strings.ToLower(text)
	return strings.Contains(text, string(name)) || strings.Contains(text, string(back))
}
