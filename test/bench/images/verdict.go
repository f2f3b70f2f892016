package main

import (
	"errors"
	"fmt"
)

// limit is what a figure of the last line may be, on two cores that do nothing else.
type limit struct {
	figure      string
	least, most float64 // 0 is none
}

// limits are those of the figures; docs/images.md has the same. What was not measured, for
// want of an nginx or because one load alone was asked for, misses none.
var limits = []limit{
	{figure: "r64k_vs_nginx", least: 0.8},
	{figure: "r512k_vs_nginx", least: 0.9},
	{figure: "r2k_vs_nginx", least: 0.5},
	{figure: "stream_vs_nginx", least: 0.75},
	{figure: "newconn_vs_nginx", least: 0.6},
	{figure: "rss_mib", most: 40},
	{figure: "build_ms", most: 3},
}

// verdict is everything for which the bench has failed.
func verdict(m measured) error {
	var errs []error
	if m.wrong+m.dropped > 0 {
		errs = append(errs, errors.New("bytes were wrong or requests were dropped"))
	}
	if m.compared == 0 {
		errs = append(errs, errors.New("nothing was compared: the rounds were too short"))
	}
	for _, l := range limits {
		value, there := m.report[l.figure].(float64)
		switch {
		case !there:
		case value < l.least:
			errs = append(errs, fmt.Errorf("%s is %v, less than %v", l.figure, value, l.least))
		case l.most > 0 && value > l.most:
			errs = append(errs, fmt.Errorf("%s is %v, more than %v", l.figure, value, l.most))
		}
	}
	return errors.Join(errs...)
}
