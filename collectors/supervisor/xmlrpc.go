package supervisor

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// maxDepth limits the nesting of values. Those of supervisord have three levels:
// an array of results, an array of programs, and a struct for each.
const maxDepth = 8

// xmlrpcFault is the error that a server returned.
type xmlrpcFault struct {
	code int64
	text string
}

func (f *xmlrpcFault) Error() string {
	return fmt.Sprintf("fault %d: %s", f.code, text.Short(f.text, collectors.MaxReason))
}

// parseXMLRPC reads the answer to a call: the one value that it returns, or an
// *xmlrpcFault as the error. Values are int64, bool, string, []any and map[string]any; those
// of other types, which supervisord never sends, are errors, as is everything that the
// specification does not have. Source: http://xmlrpc.com/spec.md
func parseXMLRPC(answer io.Reader) (any, error) {
	r := xmlrpcReader{xml.NewDecoder(answer)}
	if err := r.begin("methodResponse"); err != nil {
		return nil, err
	}
	kind, err := r.either("params", "fault")
	if err != nil {
		return nil, err
	}
	if kind == "params" {
		if err := r.begin("param"); err != nil {
			return nil, err
		}
	}
	if err := r.begin("value"); err != nil {
		return nil, err
	}
	v, err := r.value(1)
	if err != nil {
		return nil, err
	}
	ends := 2 // of kind and of methodResponse
	if kind == "params" {
		ends = 3
	}
	for range ends {
		if err := r.end(); err != nil {
			return nil, err
		}
	}
	if text, start, err := r.text(); !errors.Is(err, io.EOF) || start != nil || !isBlank(text) {
		return nil, errors.New("more after the answer: expected its end")
	}
	if kind == "fault" {
		return nil, faultOf(v)
	}
	return v, nil
}

// faultOf returns a value as a fault, or an error for another value.
func faultOf(v any) error {
	fields, _ := v.(map[string]any)
	code, isCode := fields["faultCode"].(int64)
	text, isText := fields["faultString"].(string)
	if !isCode || !isText {
		return errors.New("a fault without faultCode and faultString")
	}
	return &xmlrpcFault{code, text}
}

// xmlrpcReader reads an answer element by element. The decoder checks that tags
// match.
type xmlrpcReader struct{ xml *xml.Decoder }

// text reads up to the next tag, and returns the text before it and the tag if it is
// one that starts an element. At the end of an answer that is whole, the error is io.EOF.
func (r xmlrpcReader) text() (string, *xml.StartElement, error) {
	var message strings.Builder
	for {
		token, err := r.xml.Token()
		if err != nil {
			return message.String(), nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Space != "" || len(t.Attr) > 0 {
				return "", nil, fmt.Errorf("element %q with a name space or attributes: expected neither", text.Short(t.Name.Local, 32))
			}
			return message.String(), &t, nil
		case xml.EndElement:
			return message.String(), nil, nil
		case xml.CharData:
			message.Write(t)
		case xml.Directive:
			return "", nil, errors.New("a document type: expected none")
		}
	}
}

// begin reads the tag that starts an element of this name.
func (r xmlrpcReader) begin(name string) error {
	_, err := r.either(name)
	return err
}

// either reads the tag that starts an element of one of these names, and returns it.
func (r xmlrpcReader) either(names ...string) (string, error) {
	name, err := r.next(names...)
	if err == nil && name == "" {
		err = fmt.Errorf("the end of an element: expected %s", strings.Join(names, " or "))
	}
	return name, err
}

// next is either, or the end of the element around, for which it returns "".
func (r xmlrpcReader) next(names ...string) (string, error) {
	message, start, err := r.text()
	switch {
	case errors.Is(err, io.EOF):
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	case !isBlank(message):
		return "", fmt.Errorf("text %q: expected an element %s", text.Short(strings.TrimSpace(message), 32), strings.Join(names, " or "))
	case start == nil:
		return "", nil
	}
	for _, name := range names {
		if start.Name.Local == name {
			return name, nil
		}
	}
	return "", fmt.Errorf("element %q: expected %s", text.Short(start.Name.Local, 32), strings.Join(names, " or "))
}

// end reads the tag that ends an element that has nothing more in it.
func (r xmlrpcReader) end() error {
	_, err := r.next()
	return err
}

// value reads what is in an element value, its end included.
func (r xmlrpcReader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values more than %d deep", maxDepth)
	}
	message, start, err := r.text()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case start == nil: // a value without a type is a string
		return message, nil
	case !isBlank(message):
		return nil, fmt.Errorf("text before element %q in a value", text.Short(start.Name.Local, 32))
	}
	var v any
	switch start.Name.Local {
	case "struct":
		v, err = r.structure(depth)
	case "array":
		v, err = r.array(depth)
	default:
		v, err = r.scalar(start.Name.Local)
	}
	if err != nil {
		return nil, err
	}
	return v, r.end()
}

// scalar reads a value of a simple type, its end included.
func (r xmlrpcReader) scalar(kind string) (any, error) {
	message, start, err := r.text()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case start != nil:
		return nil, fmt.Errorf("an element in a value of type %q", text.Short(kind, 32))
	}
	switch {
	case kind == "string":
		return message, nil
	case kind == "boolean" && (message == "0" || message == "1"):
		return message == "1", nil
	case kind == "int", kind == "i4":
		n, err := strconv.ParseInt(message, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("int %q: expected a number", text.Short(message, 32))
		}
		return n, nil
	}
	return nil, fmt.Errorf("a value of type %q: expected int, boolean, string, array or struct", text.Short(kind, 32))
}

// array reads the values of an array, its end included.
func (r xmlrpcReader) array(depth int) (any, error) {
	if err := r.begin("data"); err != nil {
		return nil, err
	}
	values := []any{}
	for {
		switch name, err := r.next("value"); {
		case err != nil:
			return nil, err
		case name == "":
			return values, r.end()
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
}

// structure reads the members of a struct, its end included.
func (r xmlrpcReader) structure(depth int) (any, error) {
	members := map[string]any{}
	for {
		switch name, err := r.next("member"); {
		case err != nil:
			return nil, err
		case name == "":
			return members, nil
		}
		if err := r.begin("name"); err != nil {
			return nil, err
		}
		name, err := r.scalar("string")
		if err != nil {
			return nil, err
		}
		key := name.(string)
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("member %q twice", text.Short(key, 32))
		}
		if err := r.begin("value"); err != nil {
			return nil, err
		}
		if members[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if err := r.end(); err != nil {
			return nil, err
		}
	}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
