package pages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// link is a link of a page, without the pages of others.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// code is what is not read as text: blocks and spans.
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	// unnamed are the characters of a heading that its anchor does not have.
	unnamed = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// Markdown are the pages of a tree, by their paths in it: those of folders that git does not
// keep are none.
func Markdown(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "bin" || d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".md":
			relative, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(relative))
			return err
		}
		return nil
	})
	return files, err
}

// BrokenLinks are the links of a page that lead nowhere: to a file that is not there, or to a
// heading that its page does not have. Addresses of the web are not asked for.
func BrokenLinks(root, page string) (broken []string, err error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		return nil, err
	}
	for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), "x"), -1) {
		if strings.Contains(found[1], "://") {
			continue
		}
		path, anchor, _ := strings.Cut(found[1], "#")
		target := filepath.Join(root, filepath.FromSlash(page))
		if path != "" {
			target = filepath.Join(filepath.Dir(target), filepath.FromSlash(path))
		}
		switch there, err := anchors(target); {
		case err != nil:
			broken = append(broken, fmt.Sprintf("%s: %s: there is no such file", page, found[1]))
		case anchor != "" && !there[anchor]:
			broken = append(broken, fmt.Sprintf("%s: %s: there is no such heading", page, found[1]))
		}
	}
	return broken, nil
}

// anchors are those that a page's headings have on the usual forges; a folder has none.
func anchors(file string) (map[string]bool, error) {
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	there, seen, block := map[string]bool{}, map[string]int{}, false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			block = !block
		}
		title := strings.TrimLeft(line, "#")
		if block || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.ReplaceAll(unnamed.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
		if n := seen[name]; n > 0 {
			there[fmt.Sprintf("%s-%d", name, n)] = true
		}
		there[name] = true
		seen[name]++
	}
	return there, nil
}
