package command

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// maxOutput bounds what [Output] keeps.
const maxOutput = 16 << 20

// Output runs a program and returns what it wrote to stdout, at most 16 MiB.
func Output(ctx context.Context, r Runner, name string, args ...string) ([]byte, error) {
	var out bounded
	if err := r.Run(ctx, Command{Name: name, Args: args, Stdout: &out}); err != nil {
		return nil, err
	}
	if out.over {
		return nil, fmt.Errorf("%s wrote more than %d bytes", name, maxOutput)
	}
	return out.Bytes(), nil
}

type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		b.over = true
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// Exec runs programs in the shape that the shared code below customdeploy takes:
// each line of standard output is handed over as it comes, and what the program
// says beside that goes to the log.
func Exec(r Runner, log *slog.Logger) hostexec.Exec {
	return func(ctx context.Context, argv []string, line func(string)) error {
		out, said := hostexec.NewLineWriter(line), hostexec.LogLines(log, argv[0])
		err := r.Run(ctx, Command{Name: argv[0], Args: argv[1:], Stdout: out, Stderr: said})
		out.Flush()
		said.Flush()
		return err
	}
}

// Lines is [Exec] for programs that show their progress or their log: the lines of
// both streams are handed over. Nobody may take them for an answer.
func Lines(r Runner) hostexec.Exec {
	return func(ctx context.Context, argv []string, line func(string)) error {
		w := hostexec.NewLineWriter(line)
		err := r.Run(ctx, Command{Name: argv[0], Args: argv[1:], Stdout: w, Stderr: w})
		w.Flush()
		return err
	}
}
