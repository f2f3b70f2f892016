package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/media"
)

// Places of base images where nothing else is said, and the variables by which a pod of Ironflow
// is told others.
const (
	baseEnv, listEnv, dataEnv = "DEPLOY_ISO", "IRONFLOW_BASE_IMAGE_LIST", "IRONFLOW_DATA_DIR"
	dataDefault               = "/var/lib/ironflow"
)

// mediaSettings are the flags of all commands about base images.
type mediaSettings struct{ dir, list string }

// NewMediaCommand returns the "media" command, which brings base images into their folder and
// looks at those that are there.
func NewMediaCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "media",
		Short: "Download base images, list and check them",
		Long: `Base images are the live ISOs that the live images of hosts are made from. They are in one folder, which has to be a
writable volume for "fetch". In a pod of Ironflow the commands find the folder and the list by the program's own
variables: kubectl -n ironflow-system exec deployment/ironflow -- /ironflow media list`,
	}
	c.AddCommand(mediaFetchCommand(), mediaListCommand(), mediaCheckCommand())
	return c
}

func (s *mediaSettings) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.list, "list", os.Getenv(listEnv), "YAML file with base images to download, as for --base-image-list ($"+listEnv+")")
	c.Flags().StringVar(&s.dir, "dir", os.Getenv(baseEnv), "folder of the base images ($"+baseEnv+"); if it is empty and --list is given: the folder base in the data folder")
}

// folder is where the base images are.
func (s *mediaSettings) folder() (string, error) {
	switch {
	case s.dir != "":
		return s.dir, nil
	case s.list != "":
		return filepath.Join(cmp.Or(os.Getenv(dataEnv), dataDefault), "base"), nil
	}
	return "", fmt.Errorf("no folder of base images: set --dir or %s, or --list or %s", baseEnv, listEnv)
}

func mediaFetchCommand() *cobra.Command {
	var s mediaSettings
	var one media.Remote
	c := &cobra.Command{
		Use:   "fetch [URL --sha256 SUM]",
		Short: "Download base images to their folder; resumes an interrupted download",
		Long: `Downloads the base image at URL or, without URL, all base images of --list. A file appears under its name only when it is whole and
has the right SHA-256; FILE.sha256 is put beside it. What is there already is not downloaded again. After an interruption,
the same command resumes the download. A running Ironflow uses a new base image within a minute.`,
		Example: `  ironflow media fetch https://mirror.example/live.x86_64.iso --sha256 0123... --dir /images
  ironflow media fetch --list base-images.yaml --dir /images`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := s.remotes(args, one)
			if err != nil {
				return err
			}
			dir, err := s.folder()
			if err != nil {
				return err
			}
			return fetchAll(cmd.Context(), list, dir, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.flags(c)
	c.Flags().StringVar(&one.SHA256, "sha256", "", "SHA-256 of the file at URL, 64 hexadecimal digits")
	c.Flags().StringVar(&one.File, "file", "", "file name in the folder, ending in .iso; empty: the name in URL")
	return c
}

// digest is a SHA-256 in hexadecimal digits.
var digest = regexp.MustCompile("^[0-9a-fA-F]{64}$")

// remotes are what is to be downloaded: the one at URL, or those of the list.
func (s *mediaSettings) remotes(args []string, one media.Remote) (media.List, error) {
	if len(args) == 1 {
		if one.URL = args[0]; one.SHA256 == "" {
			return media.List{}, errors.New("--sha256 is needed: nothing else tells a whole file from a cut or a wrong one")
		}
		if !digest.MatchString(one.SHA256) {
			return media.List{}, fmt.Errorf("--sha256 %q is no SHA-256: write its 64 hexadecimal digits, as sha256sum prints them", one.SHA256)
		}
		return media.List{Images: []media.Remote{one}}, nil
	}
	if one.SHA256 != "" || one.File != "" {
		return media.List{}, errors.New("--sha256 and --file belong to a URL")
	}
	if s.list == "" {
		return media.List{}, fmt.Errorf("nothing to download: give a URL with --sha256, or a list by --list or %s", listEnv)
	}
	return media.ReadList(s.list)
}

// fetchAll downloads one after the other. What fails does not keep the others away.
func fetchAll(ctx context.Context, list media.List, dir string, out, told io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of base images: %w", err)
	}
	downloader, err := list.Downloader(dir)
	if err != nil {
		return err
	}
	p := downloadProgress{out: told}
	downloader.Progress = p.show
	var problems []error
	for _, image := range list.Images {
		path, fetched, err := downloader.Fetch(ctx, image)
		switch {
		case err != nil:
			problems = append(problems, err)
			continue
		case fetched:
			fmt.Fprintf(out, "%s: downloaded\n", path)
		default:
			fmt.Fprintf(out, "%s: is there already\n", path)
		}
		sum := fmt.Sprintf("%s  %s\n", strings.ToLower(image.SHA256), filepath.Base(path))
		if err := os.WriteFile(path+".sha256", []byte(sum), 0o644); err != nil {
			problems = append(problems, fmt.Errorf("note the digest: %w", err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%w\nNext: call this again, it goes on where it stopped", err)
	}
	return nil
}

// downloadProgress tells how far a download is, in steps.
type downloadProgress struct {
	out   io.Writer
	file  string
	shown int64
}

// steps is how often a download is told about.
const steps = 20

func (p *downloadProgress) show(file string, have, total int64) {
	if file != p.file {
		p.file, p.shown = file, -1
	}
	step := have >> 26 // of 64 MiB, where the size is not known
	if total > 0 {
		step = have * steps / total
	}
	if step == p.shown {
		return
	}
	p.shown = step
	if total > 0 {
		fmt.Fprintf(p.out, "%s: %d of %d MiB (%d%%)\n", file, have>>20, total>>20, have*100/total)
		return
	}
	fmt.Fprintf(p.out, "%s: %d MiB\n", file, have>>20)
}

func mediaListCommand() *cobra.Command {
	var s mediaSettings
	c := &cobra.Command{
		Use:   "list",
		Short: "List base images with architecture, version, size and digest, those that cannot be used, and downloads",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := s.show(cmd.Context(), cmd.OutOrStdout())
			return err
		},
	}
	s.flags(c)
	return c
}

func mediaCheckCommand() *cobra.Command {
	var s mediaSettings
	c := &cobra.Command{
		Use:   "check",
		Short: "Read all base images again; fails if one cannot be used, one of the list is missing, or there is none",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := s.show(cmd.Context(), cmd.OutOrStdout())
			switch {
			case err != nil:
				return err
			case found.bad > 0:
				return fmt.Errorf("%d of %d base images cannot be used: `ironflow media fetch` downloads those of a list", found.bad, found.bad+found.usable)
			case found.usable == 0:
				return errors.New("there is no base image, so no host gets a live image: put a live ISO there, or download one by `ironflow media fetch`")
			}
			return nil
		},
	}
	s.flags(c)
	return c
}

// mediaCount is how many base images there are.
type mediaCount struct{ usable, bad int }

// show prints what is in the folder, and what the list has that is not.
func (s *mediaSettings) show(ctx context.Context, out io.Writer) (mediaCount, error) {
	dir, err := s.folder()
	if err != nil {
		return mediaCount{}, err
	}
	sums, wanted, err := s.wanted()
	if err != nil {
		return mediaCount{}, err
	}
	var count mediaCount
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FILE\tARCHITECTURE\tVERSION\tMiB\tSHA256")
	registry, err := media.Open(ctx, dir, media.Options{SHA256: sums})
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || s.list == "") {
		return mediaCount{}, err
	}
	if registry != nil {
		for _, m := range registry.List() {
			count.usable++
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", filepath.Base(m.Path), m.Arch, cmp.Or(m.Version, "-"), m.Size()>>20, m.SHA256)
			delete(wanted, filepath.Base(m.Path))
		}
		problems := registry.Problems()
		for _, path := range slices.Sorted(maps.Keys(problems)) {
			count.bad++
			fmt.Fprintf(table, "%s\tcannot be used: %v\n", filepath.Base(path), problems[path])
			delete(wanted, filepath.Base(path))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		count.bad++
		fmt.Fprintf(table, "%s\tnot there yet: %s\n", name, partOf(filepath.Join(dir, name)))
	}
	return count, table.Flush()
}

// wanted are the digests of the list by their files' names, and the names.
func (s *mediaSettings) wanted() (sums map[string]string, names map[string]bool, err error) {
	sums, names = map[string]string{}, map[string]bool{}
	if s.list == "" {
		return sums, names, nil
	}
	list, err := media.ReadList(s.list)
	if err != nil {
		return nil, nil, err
	}
	for _, image := range list.Images {
		name, err := image.FileName()
		if err != nil {
			return nil, nil, err
		}
		sums[name], names[name] = image.SHA256, true
	}
	return sums, names, nil
}

// partOf says how much of a download there is.
func partOf(path string) string {
	info, err := os.Stat(path + ".part")
	if err != nil {
		return "nothing of it"
	}
	return fmt.Sprintf("%d MiB of it", info.Size()>>20)
}
