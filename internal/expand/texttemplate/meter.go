package texttemplate

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"strings"
	texttemplate "text/template"

	"github.com/vitals-health/vitals/internal/expand"
)

// expansion is the state of one Expand. It is the writer of the template's output.
type expansion struct {
	ctx   context.Context
	data  expand.Data
	query expand.Query

	out   strings.Builder
	steps int
	depth int
	work  int
}

// The errors of an expansion that exceeds its bounds.
var (
	errWork   = errors.New("template does too much work")
	errSteps  = fmt.Errorf("template takes more than %d steps", MaxSteps)
	errOutput = fmt.Errorf("template makes more than %d bytes", MaxOutput)
	errDepth  = fmt.Errorf("templates call each other more than %d deep", MaxDepth)
)

// Write appends p to the output. It implements io.Writer.
func (e *expansion) Write(p []byte) (int, error) {
	if e.out.Len()+len(p) > MaxOutput {
		return 0, errOutput
	}
	return e.out.Write(p)
}

// meters returns the functions that the function meter adds calls of.
func (e *expansion) meters() texttemplate.FuncMap {
	return texttemplate.FuncMap{
		stepFunc: e.step,
		enterFunc: func(nodes int) (string, error) {
			if e.depth++; e.depth > MaxDepth+1 { // the outermost template is not called
				return "", errDepth
			}
			return e.step(nodes)
		},
		leaveFunc: func() string {
			e.depth--
			return ""
		},
		chargeFunc: func(v any) (any, error) {
			_, err := e.weigh(v)
			return v, err
		},
	}
}

// step counts an iteration or a template call, and the nodes that it executes. It
// fails at a bound and after the end of the context. The result is empty.
func (e *expansion) step(nodes int) (string, error) {
	if e.steps++; e.steps > MaxSteps {
		return "", errSteps
	}
	if err := e.ctx.Err(); err != nil {
		return "", err
	}
	return "", e.charge(nodes)
}

// charge adds units of work.
func (e *expansion) charge(units int) error {
	if e.work += units; e.work > maxWork {
		return errWork
	}
	return nil
}

// charged returns a function of the template that charges the size of its result.
func charged[A any](e *expansion, f func(A) string) func(A) (string, error) {
	return func(arg A) (string, error) {
		s := f(arg)
		return s, e.charge(len(s))
	}
}

// printing returns a function of the template that charges its arguments and its result.
func (e *expansion) printing(f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		if _, err := e.weighAll(args); err != nil {
			return "", err
		}
		s := f(args...)
		return s, e.charge(len(s))
	}
}

// weighAll charges all values and returns the weight of the heaviest.
func (e *expansion) weighAll(values []any) (heaviest int, err error) {
	for _, v := range values {
		w, err := e.weigh(v)
		if err != nil {
			return 0, err
		}
		heaviest = max(heaviest, w)
	}
	return heaviest, nil
}

// weigh charges and returns about the number of bytes that v has when printed. The
// result of args may contain the same value many times, so it stops at the bound.
func (e *expansion) weigh(v any) (int, error) {
	weight := 32
	switch v := v.(type) {
	case string:
		weight = len(v)
	case template.HTML:
		weight = len(v)
	case []byte:
		weight = 4 * len(v)
	case queryResult:
		weight = 32 * len(v)
	case map[string]string:
		weight = labelsSize(v)
	case *sample:
		if v != nil {
			weight = 32 + labelsSize(v.Labels)
		}
	case root:
		weight = 32 + len(v.ExternalURL) + labelsSize(v.Labels) + labelsSize(v.ExternalLabels)
	case map[string]any:
		for _, a := range v {
			w, err := e.weigh(a)
			if err != nil {
				return 0, err
			}
			weight += 16 + w
		}
		return weight, e.charge(16 * len(v))
	}
	return weight, e.charge(weight)
}

func labelsSize(labels map[string]string) int {
	n := 0
	for name, value := range labels {
		n += len(name) + len(value) + 2
	}
	return n
}
