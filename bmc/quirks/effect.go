package quirks

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Effect is what a quirk means for whoever talks to the BMC.
type Effect string

// The effects. [Effects] says what each means.
const (
	Wait              Effect = "wait"
	Retry             Effect = "retry"
	ImageScheme       Effect = "image-scheme"
	ImageSize         Effect = "image-size"
	PlainURL          Effect = "plain-url"
	WriteProtectFlag  Effect = "write-protect-flag"
	EjectFirst        Effect = "eject-first"
	BootOnceKind      Effect = "boot-once-kind"
	RecommendedDriver Effect = "recommended-driver"
	RecommendedScheme Effect = "recommended-scheme"
	RequiredScheme    Effect = "required-scheme"
	SessionOrBasic    Effect = "session-or-basic"
	KnownBadVersion   Effect = "known-bad-version"
	NoETag            Effect = "no-etag"
	ETagRequired      Effect = "etag-required"
	NoExpand          Effect = "no-expand"
	SkipPath          Effect = "skip-path"
	OneAtATime        Effect = "one-at-a-time"
	LeaveOut          Effect = "leave-out"
	Tolerate          Effect = "tolerate"
	NotSupportedFor   Effect = "not-supported"
	AdviceOnly        Effect = "advice-only"
)

// EffectRow describes an effect.
type EffectRow struct {
	Effect Effect
	// Text says what whoever meets it does.
	Text string
	// Value says what the value is; empty for effects without one.
	Value string
	// By is who does it when a row does not say: Ironflow for effects that this
	// program applies, else the people who run the BMC.
	By Actor

	check func(value string) error
}

// Effects are all effects. docs/quirks.md has this table.
var Effects = []EffectRow{
	{Wait, "give the BMC time after a call before the next one", "a duration, as `10s`", You, checkDuration},
	{Retry, "take a refusal for a passing one, and ask again", "times and delay, as `6x10s`", You, checkRetry},
	{ImageScheme, "serve images by these schemes only; preflight refuses a live image with another one", "schemes with commas, as `https,smb`", Ironflow, checkWords},
	{ImageSize, "virtual media take images up to this size; preflight refuses a larger live image", "MiB, as `1024`", Ironflow, checkSize},
	{PlainURL, "virtual media take plain paths without ? and =; preflight refuses a live image with another address", "", Ironflow, nil},
	{WriteProtectFlag, "send or leave out WriteProtected and Inserted when a medium is inserted", "`send` or `omit`", You, oneOf("send", "omit")},
	{EjectFirst, "eject before an insert, wait, and look whether the slot is empty", "", You, nil},
	{BootOnceKind, "ask for the next boot in this form", "a boot target, or `settings`, `order`, `full`", You, checkWord},
	{RecommendedDriver, "another hardware type of Ironic does better", "the hardware type", You, checkWord},
	{RecommendedScheme, "another scheme in spec.bmc.address does better", "the scheme", You, checkWord},
	{RequiredScheme, "virtual media work with this scheme only; preflight refuses the others", "the scheme", Ironflow, checkWord},
	{SessionOrBasic, "log in in this way only", "`session` or `basic`", Ironflow, oneOf("session", "basic")},
	{KnownBadVersion, "the version has a fault; preflight refuses what needs it", "the version that fixes it, and for what: `6.10.30.00 for VirtualMediaCD`; without `for`, for everything", Ironflow, checkBadVersion},
	{NoETag, "send no If-Match where the BMC refuses it", "`actions`, `all` or `weak`", Ironflow, oneOf("actions", "all", "weak")},
	{ETagRequired, "send If-Match with every change", "", Ironflow, nil},
	{NoExpand, "never ask for expanded members", "", Ironflow, nil},
	{SkipPath, "never read these paths", "patterns with commas, as `/redfish/v1/Chassis/*RAID*`", Ironflow, checkPaths},
	{OneAtATime, "never have two requests on the way", "", Ironflow, nil},
	{LeaveOut, "leave these members out of what is sent; those of a subscription (EventDestination) Ironflow, others you", "members with commas, as `EventDestination.DeliveryRetryPolicy`", Ironflow, checkWords},
	{Tolerate, "read what is there instead of what the schema asks for", "", Ironflow, nil},
	{NotSupportedFor, "the BMC shows this, and it does not work; preflight refuses what needs it", "one of the capabilities below, as `VolumeCreation`", Ironflow, oneOf(Capabilities...)},
	{AdviceOnly, "nobody but a person can do something", "", You, nil},
}

// The capabilities that wishes ask for: a quirk can say of these that they do not
// work. They are names of the probe's.
const (
	VirtualMediaCD = "VirtualMediaCD"
	BootOnce       = "BootOnce"
	HTTPBoot       = "HTTPBoot"
	SecureBoot     = "SecureBoot"
	BIOSSettings   = "BIOSSettings"
	VolumeCreation = "VolumeCreation"
	SimpleUpdate   = "SimpleUpdate"
)

// Capabilities are the capabilities that a quirk can be about.
var Capabilities = []string{VirtualMediaCD, BootOnce, HTTPBoot, SecureBoot, BIOSSettings, VolumeCreation, SimpleUpdate}

// Actor is who applies an effect.
type Actor string

// The actors.
const (
	Ironflow Actor = "ironflow"
	Ironic   Actor = "ironic"
	You      Actor = "you"
)

func describe(e Effect) (EffectRow, bool) {
	i := slices.IndexFunc(Effects, func(r EffectRow) bool { return r.Effect == e })
	if i < 0 {
		return EffectRow{}, false
	}
	return Effects[i], true
}

func names(effects []EffectRow) string {
	var list []string
	for _, e := range effects {
		list = append(list, string(e.Effect))
	}
	return strings.Join(list, ", ")
}

func checkDuration(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration: write it as 10s", value)
	}
	return nil
}

var retryForm = regexp.MustCompile(`^[1-9][0-9]?x(.+)$`)

func checkRetry(value string) error {
	found := retryForm.FindStringSubmatch(value)
	if found == nil || checkDuration(found[1]) != nil {
		return fmt.Errorf("%q is no number of times and delay: write it as 6x10s", value)
	}
	return nil
}

func checkSize(value string) error {
	if n, err := strconv.ParseUint(value, 10, 32); err != nil || n == 0 {
		return fmt.Errorf("%q is no number of MiB: write it as 1024", value)
	}
	return nil
}

var (
	wordForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*$`)
	wordsForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*(,[A-Za-z][A-Za-z0-9.-]*)*$`)
	badForm   = regexp.MustCompile(`^(\S+)(?: for ([A-Za-z]+))?$`)
)

func checkWord(value string) error {
	if !wordForm.MatchString(value) {
		return fmt.Errorf("%q is not one word", value)
	}
	return nil
}

func checkWords(value string) error {
	if !wordsForm.MatchString(value) {
		return fmt.Errorf("%q is not a list of words with commas and no blanks", value)
	}
	return nil
}

func checkPaths(value string) error {
	for pattern := range strings.SplitSeq(value, ",") {
		if !strings.HasPrefix(pattern, "/redfish/") {
			return fmt.Errorf("%q does not begin with /redfish/", pattern)
		}
		if err := checkGlob(pattern); err != nil {
			return err
		}
	}
	return nil
}

func checkBadVersion(value string) error {
	if found := badForm.FindStringSubmatch(value); found != nil {
		if _, ok := ParseVersion(found[1]); ok {
			if found[2] == "" {
				return nil
			}
			return oneOf(Capabilities...)(found[2])
		}
	}
	return fmt.Errorf("%q is no version: write the one that fixes the fault, as 6.10.30.00 or 6.10.30.00 for VirtualMediaCD", value)
}

func oneOf(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(words, ", "))
		}
		return nil
	}
}
