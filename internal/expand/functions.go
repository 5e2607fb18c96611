package expand

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/prometheus/common/helpers/templates"
	"github.com/prometheus/common/model"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// functions returns everything that a template can call: the built-in functions and
// those that Prometheus documents in its template reference.
func functions() map[string]function {
	funcs := builtins()
	for name, f := range map[string]func(string) string{
		"title":          func(s string) string { return cases.Title(language.AmericanEnglish, cases.NoLower).String(s) },
		"toUpper":        strings.ToUpper,
		"toLower":        strings.ToLower,
		"graphLink":      func(expr string) string { return "/graph?g0.expr=" + url.QueryEscape(expr) + "&g0.tab=0" },
		"tableLink":      func(expr string) string { return "/graph?g0.expr=" + url.QueryEscape(expr) + "&g0.tab=1" },
		"stripPort":      stripPort,
		"stripDomain":    stripDomain,
		"urlQueryEscape": url.QueryEscape,
	} {
		funcs[name] = function{in: []param{text}, call: func(_ *expansion, args []any) (any, error) {
			return f(args[0].(string)), nil
		}}
	}
	for name, f := range map[string]func(any) (any, error){
		"humanize":           number(humanize),
		"humanize1024":       number(humanize1024),
		"humanizePercentage": number(func(v float64) string { return fmt.Sprintf("%.4g%%", v*100) }),
		"humanizeDuration":   func(v any) (any, error) { return templates.HumanizeDuration(v) },
		"humanizeTimestamp":  func(v any) (any, error) { return templates.HumanizeTimestamp(v) },
		"toTime":             toTime,
		"toDuration":         toDuration,
	} {
		funcs[name] = function{in: []param{anything}, call: func(_ *expansion, args []any) (any, error) {
			return f(args[0])
		}}
	}
	addVectorFunctions(funcs)
	addOtherFunctions(funcs)
	return funcs
}

func addVectorFunctions(funcs map[string]function) {
	funcs["query"] = function{in: []param{text}, call: runQuery}
	funcs["first"] = function{in: []param{samples}, call: func(_ *expansion, args []any) (any, error) {
		if v := args[0].(vector); len(v) > 0 {
			return v[0], nil
		}
		return nil, errors.New("first() called on vector with no elements")
	}}
	funcs["sortByLabel"] = function{in: []param{text, samples}, call: func(e *expansion, args []any) (any, error) {
		label, v := args[0].(string), args[1].(vector)
		sort.SliceStable(v, func(i, j int) bool { return v[i].Labels[label] < v[j].Labels[label] })
		return v, nil
	}}
	ofSample := func(f func(s *sample, args []any) any, in ...param) function {
		return function{in: append(in, oneSample), call: func(_ *expansion, args []any) (any, error) {
			s := args[len(args)-1].(*sample)
			if s == nil {
				return nil, errors.New("sample is nil")
			}
			return f(s, args), nil
		}}
	}
	funcs["label"] = ofSample(func(s *sample, args []any) any { return s.Labels[args[0].(string)] }, text)
	funcs["value"] = ofSample(func(s *sample, _ []any) any { return s.Value })
	funcs["strvalue"] = ofSample(func(s *sample, _ []any) any { return s.Labels["__value__"] })
}

func addOtherFunctions(funcs map[string]function) {
	funcs["args"] = function{variadic: true, call: func(_ *expansion, args []any) (any, error) {
		m := make(arguments, len(args))
		for i, a := range args {
			m[fmt.Sprintf("arg%d", i)] = a
		}
		return m, nil
	}}
	funcs["reReplaceAll"] = function{in: []param{text, text, text}, call: replaceAll}
	funcs["match"] = function{in: []param{text, text}, call: func(_ *expansion, args []any) (any, error) {
		return regexp.MatchString(args[0].(string), args[1].(string))
	}}
	funcs["safeHtml"] = function{in: []param{text}, call: func(_ *expansion, args []any) (any, error) {
		return safeHTML(args[0].(string)), nil
	}}
	funcs["now"] = function{call: func(e *expansion, _ []any) (any, error) {
		return float64(e.data.At.UnixMilli()) / 1000, nil
	}}
	funcs["pathPrefix"] = function{call: func(e *expansion, _ []any) (any, error) {
		u, err := url.Parse(e.data.ExternalURL)
		if err != nil {
			return nil, err
		}
		return u.Path, nil
	}}
	funcs["externalURL"] = function{call: func(e *expansion, _ []any) (any, error) { return e.data.ExternalURL, nil }}
	funcs["parseDuration"] = function{in: []param{text}, call: func(_ *expansion, args []any) (any, error) {
		d, err := model.ParseDurationAllowNegative(args[0].(string))
		return float64(d) / float64(time.Second), err
	}}
}

func runQuery(e *expansion, args []any) (any, error) {
	if e.query == nil {
		return nil, errors.New("there is nothing to query")
	}
	// Prometheus counts time in milliseconds.
	result, err := e.query(e.ctx, args[0].(string), time.UnixMilli(e.data.At.UnixMilli()))
	if err != nil {
		return nil, err
	}
	v := make(vector, len(result))
	for i, s := range result {
		v[i] = &sample{Labels: s.Labels, Value: s.Value}
	}
	return v, nil
}

// replaceAll is reReplaceAll. A short replacement can make much of a long text, so
// the result's size is bounded first: every $ inserts at most the whole match.
func replaceAll(_ *expansion, args []any) (any, error) {
	pattern, replacement, s := args[0].(string), args[1].(string), args[2].(string)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if len(s)+(len(s)+1)*len(replacement)+len(s)*strings.Count(replacement, "$") > maxWork {
		return nil, errWork
	}
	return re.ReplaceAllString(s, replacement), nil
}

func stripPort(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return hostPort
}

func stripDomain(hostPort string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	if net.ParseIP(host) != nil {
		return hostPort
	}
	host, _, _ = strings.Cut(host, ".")
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}
