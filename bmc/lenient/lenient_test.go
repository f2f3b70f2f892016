package lenient_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/lenient"
)

func TestValues(t *testing.T) {
	type all struct {
		String lenient.String
		Int    lenient.Int
		Float  lenient.Float
		Bool   lenient.Bool
	}
	cases := map[string]struct {
		json string // of each of the four
		want all
	}{
		"a text":             {`"Dell Inc."`, all{String: "Dell Inc."}},
		"an empty text":      {`""`, all{}},
		"escapes":            {`"a\u00e9\n"`, all{String: "aé\n"}},
		"a number":           {`96`, all{String: "96", Int: 96, Float: 96}},
		"a number as a text": {`"96"`, all{String: "96", Int: 96, Float: 96}},
		"blanks around":      {`" 96 "`, all{String: " 96 ", Int: 96, Float: 96}},
		"below zero":         {`-1`, all{String: "-1", Int: -1, Float: -1}},
		"a fraction":         {`3.9`, all{String: "3.9", Int: 3, Float: 3.9}},
		"an exponent":        {`1e3`, all{String: "1e3", Int: 1000, Float: 1000}},
		"the largest":        {`9223372036854775807`, all{String: "9223372036854775807", Int: 9223372036854775807, Float: 9223372036854775807}},
		"too large":          {`9223372036854775808`, all{String: "9223372036854775808", Float: 9223372036854775808}},
		"far too large":      {`1e999`, all{String: "1e999"}},
		"hexadecimal":        {`"0x10"`, all{String: "0x10"}},
		"infinite":           {`"Infinity"`, all{String: "Infinity"}},
		"no number":          {`"N/A"`, all{String: "N/A"}},
		"with a unit":        {`"96 %"`, all{String: "96 %"}},
		"true":               {`true`, all{Bool: true}},
		"false":              {`false`, all{}},
		"true as a text":     {`"True"`, all{String: "True", Bool: true}},
		"null":               {`null`, all{}},
		"an object":          {`{"a":1}`, all{}},
		"a list":             {`[1]`, all{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := all{"before", 7, 7, true}
			doc := `{"String":` + c.json + `,"Int":` + c.json + `,"Float":` + c.json + `,"Bool":` + c.json + `}`
			g.Expect(json.Unmarshal([]byte(doc), &got)).To(Succeed())
			g.Expect(got).To(Equal(c.want))
		})
	}
}

// FuzzString holds the way for texts without escapes against encoding/json.
func FuzzString(f *testing.F) {
	for _, seed := range []string{`""`, `"Dell Inc."`, `"a\u00e9\n"`, `"\""`, `"é"`, `"\\"`, "\"\xff\"", "\"\x7f\"", `"`, `"a"b"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &want) != nil {
			want = ""
		}
		var got lenient.String
		if _ = got.UnmarshalJSON(raw); len(raw) > 0 && raw[0] == '"' && string(got) != want {
			t.Fatalf("%q: %q instead of %q", raw, got, want)
		}
	})
}

func TestTime(t *testing.T) {
	cases := map[string]struct {
		json string
		want string // RFC 3339, empty for never
	}{
		"as it should be":   {`"2026-08-01T10:20:30Z"`, "2026-08-01T10:20:30Z"},
		"an offset":         {`"2026-08-01T10:20:30+02:00"`, "2026-08-01T08:20:30Z"},
		"without a colon":   {`"2026-08-01T10:20:30-0600"`, "2026-08-01T16:20:30Z"},
		"hours alone":       {`"2026-08-01T10:20:30-06"`, "2026-08-01T16:20:30Z"},
		"a fraction":        {`"2026-08-01T10:20:30.123456Z"`, "2026-08-01T10:20:30.123456Z"},
		"fraction, offset":  {`"2026-08-01T10:20:30.5-0600"`, "2026-08-01T16:20:30.5Z"},
		"no offset":         {`"2026-08-01T10:20:30"`, "2026-08-01T10:20:30Z"},
		"a blank":           {`"2026-08-01 10:20:30"`, "2026-08-01T10:20:30Z"},
		"small letters":     {`"2026-08-01t10:20:30z"`, "2026-08-01T10:20:30Z"},
		"a date alone":      {`"2026-08-01"`, "2026-08-01T00:00:00Z"},
		"never":             {`"0000-00-00T00:00:00+00:00"`, ""},
		"a time alone":      {`"00:00:00Z"`, ""},
		"the zero time":     {`"0001-01-01T00:00:00Z"`, ""},
		"seconds":           {`1700000000`, ""},
		"null":              {`null`, ""},
		"a month too many":  {`"2026-13-01T00:00:00Z"`, ""},
		"something else":    {`"soon"`, ""},
		"after the last":    {`"9999-12-31T23:59:59-01:00"`, ""},
		"before the first":  {`"0001-01-01T00:00:00+01:00"`, ""},
		"an object instead": {`{}`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := lenient.Time{Time: time.Unix(1, 0)}
			g.Expect(json.Unmarshal([]byte(c.json), &got)).To(Succeed())
			if c.want == "" {
				g.Expect(got.IsZero()).To(BeTrue(), "%v", got)
				return
			}
			want, err := time.Parse(time.RFC3339Nano, c.want)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.UTC()).To(Equal(want.UTC()))
		})
	}
}

func TestLink(t *testing.T) {
	cases := map[string]struct{ json, want string }{
		"a reference":      {`{"@odata.id":"/redfish/v1/Systems/1"}`, "/redfish/v1/Systems/1"},
		"an older one":     {`{"href":"/rest/v1/Systems/1"}`, "/rest/v1/Systems/1"},
		"outside":          {`{"extref":"/registries/x.json"}`, "/registries/x.json"},
		"a text":           {`"/redfish/v1/Systems/1"`, "/redfish/v1/Systems/1"},
		"a list":           {`[{"@odata.id":"/a"},{"@odata.id":"/b"}]`, "/a"},
		"a list of lists":  {`[[["/a"]]]`, ""},
		"an empty list":    {`[]`, ""},
		"a number":         {`1`, ""},
		"null":             {`null`, ""},
		"an object inside": {`{"@odata.id":{"@odata.id":"/a"}}`, ""},
		"another object":   {`{"Name":"x"}`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := lenient.Link{Path: "before"}
			g.Expect(json.Unmarshal([]byte(c.json), &got)).To(Succeed())
			g.Expect(got.Path).To(Equal(c.want))
		})
	}
}

func TestLinkIsWrittenAsRedfishHasIt(t *testing.T) {
	g := NewWithT(t)
	raw, err := json.Marshal(lenient.Link{Path: "/a"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(`{"@odata.id":"/a"}`))
}

func TestList(t *testing.T) {
	type part struct {
		Name lenient.String
		Slot struct{ Number lenient.Int }
	}
	cases := map[string]struct {
		json string
		want lenient.List[part]
	}{
		"a list":                   {`[{"Name":"a"},{"Name":"b"}]`, lenient.List[part]{{Name: "a"}, {Name: "b"}}},
		"one object":               {`{"Name":"a"}`, lenient.List[part]{{Name: "a"}}},
		"empty":                    {`[]`, nil},
		"null":                     {`null`, nil},
		"null inside":              {`[null,{"Name":"b"}]`, lenient.List[part]{{Name: "b"}}},
		"another type inside":      {`[7,{"Name":"b"},"x"]`, lenient.List[part]{{Name: "b"}}},
		"a wrong type further in":  {`[{"Name":"a","Slot":3}]`, lenient.List[part]{{Name: "a"}}},
		"a text instead of a list": {`"x"`, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := lenient.List[part]{{Name: "before"}}
			g.Expect(json.Unmarshal([]byte(c.json), &got)).To(Succeed())
			g.Expect(got).To(Equal(c.want))
		})
	}
	t.Run("of texts", func(t *testing.T) {
		g := NewWithT(t)
		var one, many lenient.List[lenient.String]
		g.Expect(json.Unmarshal([]byte(`"CD"`), &one)).To(Succeed())
		g.Expect(json.Unmarshal([]byte(`["CD",null,3]`), &many)).To(Succeed())
		g.Expect(one).To(Equal(lenient.List[lenient.String]{"CD"}))
		g.Expect(many).To(Equal(lenient.List[lenient.String]{"CD", "3"}))
	})
	t.Run("of links", func(t *testing.T) {
		g := NewWithT(t)
		var links lenient.List[lenient.Link]
		g.Expect(json.Unmarshal([]byte(`["/a",{"@odata.id":"/b"},{}]`), &links)).To(Succeed())
		g.Expect(links).To(Equal(lenient.List[lenient.Link]{{Path: "/a"}, {Path: "/b"}}))
	})
}

// TestManyAreBounded: a small answer with a million elements is read in part. Without
// a bound it would take hundreds of megabytes.
func TestManyAreBounded(t *testing.T) {
	type large struct {
		Name   lenient.String
		Values [4]lenient.Optional[lenient.Float]
	}
	elements := strings.Repeat("{},", 1<<17)
	members := &strings.Builder{}
	for i := range 1 << 16 {
		fmt.Fprintf(members, `"%d":{},`, i)
	}
	g := NewWithT(t)
	var list lenient.List[large]
	var byName lenient.Map[large]
	g.Expect(json.Unmarshal([]byte("["+elements+"{}]"), &list)).To(Succeed())
	g.Expect(list).To(HaveLen(lenient.MaxElements))
	g.Expect(json.Unmarshal([]byte("{"+members.String()+`"":{}}`), &byName)).To(Succeed())
	g.Expect(byName).To(HaveLen(lenient.MaxElements))
}

func TestMap(t *testing.T) {
	g := NewWithT(t)
	var got, none lenient.Map[lenient.Int]
	g.Expect(json.Unmarshal([]byte(`{"a":1,"b":"2","c":"x","d":null}`), &got)).To(Succeed())
	g.Expect(got).To(Equal(lenient.Map[lenient.Int]{"a": 1, "b": 2}))
	g.Expect(json.Unmarshal([]byte(`[1]`), &none)).To(Succeed())
	g.Expect(none).To(BeEmpty())
	g.Expect(json.Unmarshal([]byte(`{"a\"\u0062:": 1, "c" : [2], "d":{"e":3,"f":"}"} ,"g":7,"g":8,"h":1,"h":"x"}`), &got)).To(Succeed())
	g.Expect(got).To(Equal(lenient.Map[lenient.Int]{`a"b:`: 1, "g": 8}))
}

// FuzzMany holds the walk over lists and objects against the one of encoding/json.
func FuzzMany(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[ ]`, `[1,[2,{"a":"]"}],"\\",null]`, `{"a":1,"b" : {"c":[","]},"a":2}`, `{"\u0061\"":"}"}`, `{"":0}`, "[\n1\t,\r2 ]", `[[[`, `{"a"`, `{1:2}`, `["`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list lenient.List[json.RawMessage]
		var byName lenient.Map[json.RawMessage]
		_, _ = list.UnmarshalJSON(raw), byName.UnmarshalJSON(raw) // whatever it is, it ends
		if !json.Valid(raw) || len(raw) > lenient.MaxElements {
			return
		}
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) == nil && elements != nil {
			same(t, raw, list, slices.DeleteFunc(elements, null))
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) == nil && members != nil {
			maps.DeleteFunc(members, func(_ string, member json.RawMessage) bool { return null(member) })
			if len(members) != len(byName) {
				t.Fatalf("%s: %v", raw, byName)
			}
			for name := range members {
				same(t, raw, []json.RawMessage{byName[name]}, []json.RawMessage{members[name]})
			}
		}
	})
}

func null(raw json.RawMessage) bool { return string(raw) == "null" }

func same(t *testing.T, raw []byte, got, want []json.RawMessage) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %q instead of %q", raw, got, want)
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: %q instead of %q", raw, got[i], want[i])
		}
	}
}

func TestOptionalAndPresent(t *testing.T) {
	type reading struct {
		Reading lenient.Optional[lenient.Float]
		Status  lenient.Optional[struct{ State lenient.String }]
		There   lenient.Present
	}
	cases := map[string]struct {
		json  string
		value lenient.Float
		set   bool
		state lenient.String
		there bool
	}{
		"zero":          {json: `{"Reading":0}`, set: true},
		"a value":       {json: `{"Reading":"21.5"}`, value: 21.5, set: true},
		"null":          {json: `{"Reading":null}`},
		"absent":        {json: `{}`},
		"a wrong type":  {json: `{"Reading":"N/A","Status":"OK"}`},
		"an object":     {json: `{"Status":{"State":"Absent"}}`, state: "Absent"},
		"null is there": {json: `{"There":null}`, there: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var got reading
			g.Expect(json.Unmarshal([]byte(c.json), &got)).To(Succeed())
			g.Expect(got.Reading.Value).To(Equal(c.value))
			g.Expect(got.Reading.Set).To(Equal(c.set))
			g.Expect(got.Status.Value.State).To(Equal(c.state))
			g.Expect(got.Status.Set).To(Equal(c.state != ""))
			g.Expect(bool(got.There)).To(Equal(c.there))
		})
	}
}

// FuzzLenient reads anything that is JSON into everything that is lenient.
func FuzzLenient(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `1e400`, `-0`, `"0000-00-00T00:00:00Z"`, `{"@odata.id":["x"]}`, `[[[["a"]]]]`, `"\ud800"`, `{"a":{"b":null}}`,
		`"2026-08-01 10:20"`, `"     "`, `".e"`, `"--1"`, `{"@ODATA.ID":"/x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var in struct {
			String   lenient.String
			Int      lenient.Int
			Float    lenient.Float
			Bool     lenient.Bool
			Time     lenient.Time
			Link     lenient.Link
			List     lenient.List[lenient.Link]
			Lists    lenient.List[lenient.List[lenient.Int]]
			Map      lenient.Map[lenient.Time]
			Optional lenient.Optional[lenient.Int]
			Present  lenient.Present
		}
		var doc []byte
		for i, name := range []string{"String", "Int", "Float", "Bool", "Time", "Link", "List", "Lists", "Map", "Optional", "Present"} {
			if i > 0 {
				doc = append(doc, ',')
			}
			doc = append(doc, `"`+name+`":`...)
			doc = append(doc, raw...)
		}
		if err := json.Unmarshal(append(append([]byte("{"), doc...), '}'), &in); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !in.Present {
			t.Fatalf("%s: not present", raw)
		}
		if !in.Optional.Set && in.Optional.Value != 0 {
			t.Fatalf("%s: a value that is not set", raw)
		}
	})
}
