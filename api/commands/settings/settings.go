// Package settings gives commands their settings: each is a flag, an environment variable and a
// field of a configuration file, in this order of precedence, and has a default. Settings come in
// groups by topic, which are the sections of the help, of the file and of the documentation.
//
// A setting's value lives in a field of a configuration, a struct of structs with JSON names; where
// that field is says what the setting is called in a file, so that no name is written twice. The
// main function is [Add], which gives a command its flags, its help and --config.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group is the settings of a topic.
type Group struct {
	// Title is what the help and the documentation say above them.
	Title string
	Rows  []Row
}

// Row is one setting, made by [Text], [List], [Bool], [Number], [Duration] or [Secret].
type Row struct {
	// Flag and Env are its names, Default is the text of its default.
	Flag, Env, Default string
	// Usage says what it means.
	Usage string

	// field is a pointer to where its value goes.
	field  any
	bind   func(*pflag.FlagSet, Row)
	secret bool
}

// Where are the groups with the rows that are kept, without those that have none left.
func Where(groups []Group, keep func(Row) bool) (kept []Group) {
	for _, g := range groups {
		g.Rows = slices.DeleteFunc(slices.Clone(g.Rows), func(r Row) bool { return !keep(r) })
		if len(g.Rows) > 0 {
			kept = append(kept, g)
		}
	}
	return kept
}

// Only are the groups with those flags alone.
func Only(groups []Group, flags ...string) []Group {
	return Where(groups, func(r Row) bool { return slices.Contains(flags, r.Flag) })
}

// Rows are those of all groups.
func Rows(groups []Group) (rows []Row) {
	for _, g := range groups {
		rows = append(rows, g.Rows...)
	}
	return rows
}

// ConfigFlag and ConfigEnv name the file.
const (
	ConfigFlag = "config"
	ConfigEnv  = "IRONFLOW_CONFIG"
)

// Add gives the command a flag per row, a help by groups, and --config for a file of that schema. Before the command
// runs, what the file and the environment say is read; what cannot be read is an error, unless a flag says otherwise.
func Add(cmd *cobra.Command, schema Schema, groups []Group) {
	cmd.Flags().SortFlags = false // in the order of the documentation, where what belongs together is together
	bound := Bind(cmd.Flags(), groups)
	file := cmd.Flags().String(ConfigFlag, os.Getenv(ConfigEnv), fmt.Sprintf("YAML file of kind %s with settings; flags and environment variables override it; see docs/configuration.md ($%s)", schema.Kind, ConfigEnv))
	cmd.SetUsageFunc(usage)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		var err error
		if *file != "" {
			err = bound.Load(schema, *file)
		}
		return errors.Join(bound.Environment(), err)
	}
}

// Bound is rows that have become flags.
type Bound struct {
	flags *pflag.FlagSet
	rows  []Row
	// lookup is the environment.
	lookup func(string) (string, bool)
	// set are the flags whose value the environment has given, bad those for which it has none that can be read.
	set map[string]bool
	bad map[string]error
}

// topic marks flags with the title of their group.
const topic = "ironflow-topic"

// Bind adds a flag per row, with the environment's value as the default.
func Bind(flags *pflag.FlagSet, groups []Group) *Bound { return bind(flags, groups, os.LookupEnv) }

// Take gives the settings the values of an environment that is another process's, by their
// variables: those that no setting has are unknown, and what cannot be read is an error.
func Take(groups []Group, values map[string]string) (unknown []string, err error) {
	b := bind(pflag.NewFlagSet("", pflag.ContinueOnError), groups, func(name string) (value string, is bool) {
		value, is = values[name]
		return value, is
	})
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(b.rows, func(r Row) bool { return r.Env == name }) {
			unknown = append(unknown, name)
		}
	}
	return unknown, b.Environment()
}

func bind(flags *pflag.FlagSet, groups []Group, lookup func(string) (string, bool)) *Bound {
	b := &Bound{flags: flags, rows: Rows(groups), lookup: lookup, set: map[string]bool{}, bad: map[string]error{}}
	for _, g := range groups {
		for _, row := range g.Rows {
			row.bind(flags, row)
			f := flags.Lookup(row.Flag)
			f.Usage += fmt.Sprintf(" ($%s)", row.Env)
			_ = flags.SetAnnotation(row.Flag, topic, []string{g.Title}) // the flag was made above
			b.environment(row, f)
		}
	}
	return b
}

// environment takes over what the environment says of a row.
func (b *Bound) environment(row Row, f *pflag.Flag) {
	v, ok := b.lookup(row.Env)
	if !ok || v == "" && f.Value.Type() != "string" {
		return
	}
	if f.Value.Type() == "duration" && isNumber(v) {
		v += "s" // plain numbers are seconds elsewhere
	}
	b.set[row.Flag] = true
	if err := f.Value.Set(v); err != nil {
		b.bad[row.Flag] = fmt.Errorf("$%s is %q, which is no %s: set it to a value such as %s, or give --%s", row.Env, v, kinds[f.Value.Type()], f.DefValue, row.Flag)
		return
	}
	if !row.secret {
		f.DefValue = f.Value.String()
	}
}

// Environment is what is wrong with the environment, but for flags that were given.
func (b *Bound) Environment() error {
	var problems []error
	for _, flag := range slices.Sorted(maps.Keys(b.bad)) {
		if !b.flags.Changed(flag) {
			problems = append(problems, b.bad[flag])
		}
	}
	return errors.Join(problems...)
}

// kinds are the words for the types of flags.
var kinds = map[string]string{"bool": "truth value", "int": "number", "duration": "duration"}

func isNumber(v string) bool {
	_, err := strconv.ParseUint(v, 10, 32)
	return err == nil
}
