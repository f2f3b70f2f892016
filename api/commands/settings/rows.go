package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Text is a setting that is a text.
func Text(flag, env, value, usage string, p *string) Row {
	return Row{Flag: flag, Env: env, Default: value, Usage: usage, field: p, bind: func(flags *pflag.FlagSet, r Row) { flags.StringVar(p, r.Flag, r.Default, r.Usage) }}
}

// Secret is a text that the help does not show when the environment has it, and that no file has.
func Secret(flag, env, value, usage string, p *string) Row {
	r := Text(flag, env, value, usage, p)
	r.secret = true
	return r
}

// List is texts: separated by commas as a flag and in the environment, a list in a file.
func List(flag, env, value, usage string, p *[]string) Row {
	return Row{Flag: flag, Env: env, Default: value, Usage: usage, field: p, bind: func(flags *pflag.FlagSet, r Row) {
		*p = Split(r.Default)
		flags.Var((*list)(p), r.Flag, r.Usage)
	}}
}

// Bool is a row of a flag. Its default can be read, as those of [Number] and [Duration], which a test sees to.
func Bool(flag, env, value, usage string, p *bool) Row {
	return Row{Flag: flag, Env: env, Default: value, Usage: usage, field: p, bind: func(flags *pflag.FlagSet, r Row) { flags.BoolVar(p, r.Flag, r.Default == "true", r.Usage) }}
}

// Number is a whole number.
func Number(flag, env, value, usage string, p *int) Row {
	return Row{Flag: flag, Env: env, Default: value, Usage: usage, field: p, bind: func(flags *pflag.FlagSet, r Row) {
		v, _ := strconv.Atoi(r.Default)
		flags.IntVar(p, r.Flag, v, r.Usage)
	}}
}

// Duration is a time such as 1m30s.
func Duration(flag, env, value, usage string, p *metav1.Duration) Row {
	return Row{Flag: flag, Env: env, Default: value, Usage: usage, field: p, bind: func(flags *pflag.FlagSet, r Row) {
		v, _ := time.ParseDuration(r.Default)
		flags.DurationVar(&p.Duration, r.Flag, v, r.Usage)
	}}
}

// list is a flag of texts.
type list []string

// String implements pflag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements pflag.Value.
func (l *list) Set(text string) error {
	*l = Split(text)
	return nil
}

// Type implements pflag.Value: whoever reads the help writes one text.
func (*list) Type() string { return "string" }

// CheckSigns refuses numbers and times below zero: no setting has a meaning for them.
func CheckSigns(groups []Group) error {
	var problems []error
	for _, r := range Rows(groups) {
		switch v := r.field.(type) {
		case *int:
			if *v < 0 {
				problems = append(problems, fmt.Errorf("--%s is %d: write 0 or more", r.Flag, *v))
			}
		case *metav1.Duration:
			if v.Duration < 0 {
				problems = append(problems, fmt.Errorf("--%s is %s: write 0 or more", r.Flag, v.Duration))
			}
		}
	}
	return errors.Join(problems...)
}

// Split is the parts of a comma-separated list that are not empty.
func Split(text string) (parts []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
