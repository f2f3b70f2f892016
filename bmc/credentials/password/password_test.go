package password_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/credentials/password"
)

// members says which characters are of a class, in words of our own.
var members = map[password.Class]func(byte) bool{
	password.Lower:  func(c byte) bool { return c >= 'a' && c <= 'z' },
	password.Upper:  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	password.Digit:  func(c byte) bool { return c >= '0' && c <= '9' },
	password.Symbol: func(c byte) bool { return strings.IndexByte("!$%+-=[]{}|?~_@", c) >= 0 },
}

func count(text string, class password.Class) (n int) {
	for i := range len(text) {
		if members[class](text[i]) {
			n++
		}
	}
	return n
}

// TestPasswordsThatNoBMCRefuses makes passwords for random policies and BMCs: each is
// as long as both allow, of the classes that were asked for and of no character that a
// BMC, a shell or a person trips over.
func TestPasswordsThatNoBMCRefuses(t *testing.T) {
	all := []password.Class{password.Lower, password.Upper, password.Digit, password.Symbol}
	rapid.Check(t, func(rt *rapid.T) {
		g := gomega.NewWithT(rt)
		policy := password.Policy{
			Length:  rapid.IntRange(8, 64).Draw(rt, "length"),
			Classes: rapid.SliceOfNDistinct(rapid.SampledFrom(all), 2, 4, rapid.ID).Draw(rt, "classes"),
		}
		policy.Least = rapid.IntRange(8, policy.Length).Draw(rt, "least")
		limits := password.Limits{Min: rapid.IntRange(0, 13).Draw(rt, "min"), Max: rapid.IntRange(14, 40).Draw(rt, "max")}
		username := rapid.SampledFrom([]string{"", "root", "ADMIN", "USERID", "ab", "aBc"}).Draw(rt, "user")
		recipe, err := password.Plan(policy, limits)
		if policy.Least > limits.Max {
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(fmt.Sprintf("lower the policy's least to %d", limits.Max))))
			return
		}
		g.Expect(err).NotTo(gomega.HaveOccurred())
		made, err := password.Generate(rand.Reader, recipe, username)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		text := string(made)
		g.Expect(len(text)).To(gomega.And(gomega.BeNumerically(">=", limits.Min), gomega.BeNumerically("<=", limits.Max)))
		g.Expect(text).To(gomega.HaveLen(min(max(policy.Length, limits.Min), limits.Max)))
		sum := 0
		for _, c := range all {
			n := count(text, c)
			sum += n
			wanted := false
			for _, w := range recipe.Classes {
				wanted = wanted || w == c
			}
			g.Expect(n > 0).To(gomega.Equal(wanted), "class %s", c)
		}
		g.Expect(sum).To(gomega.Equal(len(text)), "nothing but what every BMC takes")
		g.Expect(strings.ContainsAny(text, "0O1lI")).To(gomega.BeFalse(), "nothing that looks like another")
		g.Expect(count(text[:1]+text[len(text)-1:], password.Symbol)).To(gomega.BeZero(), "no sign at the ends")
		for i := 1; i < len(text); i++ {
			g.Expect(text[i]).NotTo(gomega.Equal(text[i-1]), "no character twice in a row")
		}
		if len(username) > 2 {
			g.Expect(strings.ToLower(text)).NotTo(gomega.ContainSubstring(strings.ToLower(username)))
		}
	})
}

// TestEveryCharacterIsAsLikely: a modulo without rejection would prefer the first ones
// of the alphabet by a third.
func TestEveryCharacterIsAsLikely(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := map[byte]int{}
	const rounds = 4000
	for range rounds {
		made, err := password.Generate(rand.Reader, password.Recipe{Length: 20, Classes: []password.Class{password.Lower, password.Upper}}, "")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, c := range []byte(string(made)) {
			seen[c]++
		}
	}
	g.Expect(seen).To(gomega.HaveLen(49))
	for c, n := range seen {
		g.Expect(float64(n)).To(gomega.BeNumerically("~", rounds*20/49, 0.15*rounds*20/49), "character %c", c)
	}
}

func TestABrokenSourceOfRandomnessIsNoPassword(t *testing.T) {
	recipe := password.Recipe{Length: 16, Classes: []password.Class{password.Lower, password.Digit}}
	for name, source := range map[string]*bytes.Reader{
		"always the same": bytes.NewReader(make([]byte, 1<<16)),
		"never fair":      bytes.NewReader(bytes.Repeat([]byte{255}, 1<<16)),
		"at its end":      bytes.NewReader([]byte{1, 2, 3}),
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			made, err := password.Generate(source, recipe, "root")
			g.Expect(err).To(gomega.HaveOccurred())
			g.Expect(string(made)).To(gomega.BeEmpty())
		})
	}
}

func TestPolicyOfFlagsAndAnnotations(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "length=20,least=16,classes=lower+upper+digit+symbol",
		"length=32":                       "length=32,least=16,classes=lower+upper+digit+symbol",
		"length=12":                       "length=12,least=12,classes=lower+upper+digit+symbol",
		"least=24":                        "length=24,least=24,classes=lower+upper+digit+symbol",
		"classes = digit+lower , least=8": "length=20,least=8,classes=lower+digit",
	} {
		t.Run("good "+text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p, err := password.ParsePolicy(text)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(p.String()).To(gomega.Equal(want))
		})
	}
	for text, part := range map[string]string{
		"length=7":                "from 8 to 64",
		"length=many":             "from 8 to 64",
		"length=12,least=16":      "least=16 is more than length=12",
		"classes=lower":           "one class",
		"classes=lower+greek":     `no class "greek"`,
		"colour=red":              "there are length, least and classes",
		"length=20,length=21":     "stands there twice",
		"length=20 classes=upper": "from 8 to 64",
	} {
		t.Run("bad "+text, func(t *testing.T) {
			_, err := password.ParsePolicy(text)
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(part)))
		})
	}
}

func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{"", "length=20", "least=8,classes=lower+upper", "classes=", "=", ",,", "length=020", "LENGTH=9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := password.ParsePolicy(text)
		if err != nil {
			return
		}
		g := gomega.NewWithT(t)
		again, err := password.ParsePolicy(p.String())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(again.String()).To(gomega.Equal(p.String()))
		if recipe, err := password.Plan(p, password.Limits{Max: 64}); err == nil {
			_, err = password.Generate(rand.Reader, recipe, "root")
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
	})
}

// TestLimitsByVendorAndReport holds the table of vendors against what reports of real
// BMCs say.
func TestLimitsByVendorAndReport(t *testing.T) {
	accounts := func(least, most int, threshold, seconds int64) *v1alpha1.AccountPolicy {
		return &v1alpha1.AccountPolicy{MinPasswordLength: least, MaxPasswordLength: most, LockoutThreshold: &threshold, LockoutSeconds: &seconds}
	}
	for name, c := range map[string]struct {
		report *v1alpha1.BMCReport
		want   password.Limits
	}{
		"no report": {nil, password.Limits{Max: 16, Wrong: 2, Window: 10 * time.Minute, Refusals: 1, Settle: 10 * time.Second}},
		"a vendor without a row, silent": {
			&v1alpha1.BMCReport{Vendor: "Huawei"}, password.Limits{Max: 16, Wrong: 2, Window: 10 * time.Minute, Refusals: 1, Settle: 10 * time.Second},
		},
		"a vendor without a row that says what it takes": {
			&v1alpha1.BMCReport{Vendor: "Huawei", Accounts: accounts(8, 32, 5, 300)},
			password.Limits{Min: 8, Max: 20, Wrong: 4, Window: 305 * time.Second, Refusals: 1, Settle: 10 * time.Second, Known: true},
		},
		"iDRAC 9 says that it never locks": {
			&v1alpha1.BMCReport{Vendor: "Dell", ManagerModel: "iDRAC9", Accounts: accounts(0, 40, 0, 0)},
			password.Limits{Max: 40, Wrong: 2, Window: 10 * time.Minute, Refusals: 1, Settle: 10 * time.Second, Attributes: true, Known: true},
		},
		"iDRAC 8": {
			&v1alpha1.BMCReport{Vendor: "Dell", ManagerModel: "iDRAC 8"},
			password.Limits{Max: 20, Wrong: 2, Window: 10 * time.Minute, Refusals: 1, Settle: 10 * time.Second, Attributes: true, Known: true},
		},
		"iLO 5 names no greatest length": {
			&v1alpha1.BMCReport{Vendor: "HPE", ManagerModel: "iLO 5", Accounts: &v1alpha1.AccountPolicy{MinPasswordLength: 8}},
			password.Limits{Min: 8, Max: 39, Wrong: 12, Window: 30 * time.Second, Refusals: 5, Settle: 5 * time.Second, Known: true},
		},
		"XCC": {
			&v1alpha1.BMCReport{Vendor: "Lenovo", Accounts: accounts(10, 32, 0, 300)},
			password.Limits{Min: 10, Max: 32, Wrong: 4, Window: 15 * time.Second, Refusals: 1, Settle: 5 * time.Second, Interval: 24 * time.Hour, Known: true},
		},
		"Supermicro: three tries, thirty seconds, and one a minute at most": {
			&v1alpha1.BMCReport{Vendor: "Supermicro", Accounts: accounts(8, 20, 3, 30)},
			password.Limits{Min: 8, Max: 20, Wrong: 2, Window: time.Minute, Refusals: 1, Settle: 5 * time.Second, Known: true},
		},
		"DGX": {
			&v1alpha1.BMCReport{Vendor: "AMI", Accounts: accounts(13, 20, 5, 30)},
			password.Limits{Min: 13, Max: 20, Wrong: 4, Window: time.Minute, Refusals: 1, Settle: 5 * time.Second, Known: true},
		},
		"BlueField": {
			&v1alpha1.BMCReport{Vendor: "NVIDIA", Accounts: accounts(12, 20, 10, 600)},
			password.Limits{Min: 13, Max: 20, Wrong: 4, Window: 605 * time.Second, Refusals: 1, Settle: 5 * time.Second, Known: true},
		},
		"one that locks at the first wrong login, for a year": {
			&v1alpha1.BMCReport{Vendor: "OpenBMC", Accounts: accounts(8, 20, 1, 31536000)},
			password.Limits{Min: 8, Max: 20, Wrong: 1, Window: time.Hour + 5*time.Second, Refusals: 1, Settle: 5 * time.Second, Known: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(password.LimitsOf(c.report)).To(gomega.Equal(c.want))
		})
	}
}

func TestWhatCannotBePlannedSaysWhatToChange(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := password.Plan(password.Policy{Length: 32, Least: 24}, password.Limits{Max: 20})
	g.Expect(err).To(gomega.MatchError("the BMC takes passwords of at most 20 characters and the policy asks for at least 24: lower the policy's least to 20"))
	_, err = password.Plan(password.Policy{}, password.Limits{Min: 24, Max: 20})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("correct its account policy")))
}
