package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// serving is a status of the health service as a label value. The set is closed.
type serving string

// The values of HealthCheckResponse.ServingStatus in grpc.health.v1.
const (
	servingUnknown        serving = "unknown"
	servingServing        serving = "serving"
	servingNotServing     serving = "not_serving"
	servingServiceUnknown serving = "service_unknown"
)

// servings returns every status, at the index of its number.
func servings() []serving {
	return []serving{servingUnknown, servingServing, servingNotServing, servingServiceUnknown}
}

const (
	// frameHeader is the length in bytes of a flag and the message's length.
	frameHeader = 5
	// maxMessage bounds a response: a status takes two bytes, and later fields would be few.
	maxMessage = 4 << 10
	// fieldService and fieldStatus are the numbers of the one field of the request and of the
	// response.
	fieldService, fieldStatus = 1, 1
)

// request returns a HealthCheckRequest in its frame.
func request(service string) []byte {
	var message []byte
	if service != "" {
		message = protowire.AppendTag(message, fieldService, protowire.BytesType)
		message = protowire.AppendString(message, service)
	}
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	return append(frame, message...)
}

// readFrame reads the one message of a response to its end. It returns nil if there is none, as
// after a failed call.
func readFrame(body io.Reader) ([]byte, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(body, header[:]); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	length := binary.BigEndian.Uint32(header[1:])
	if header[0] != 0 || length > maxMessage {
		return nil, collectors.Errorf(remote.ReasonProtocol, "read message: expected one of at most %s without compression", collectors.Size(maxMessage))
	}
	message := make([]byte, length)
	if _, err := io.ReadFull(body, message); err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	var more [1]byte
	if _, err := io.ReadFull(body, more[:]); err == nil {
		return nil, collectors.Errorf(remote.ReasonProtocol, "read message: expected the end of the response after it")
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read end of response: %w", err)
	}
	return message, nil
}

// parseResponse returns the status of a HealthCheckResponse. Unknown fields are ignored.
func parseResponse(message []byte) (serving, error) {
	status := uint64(0)
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return "", fmt.Errorf("parse health response: %w", protowire.ParseError(n))
		}
		message = message[n:]
		if number == fieldStatus && kind == protowire.VarintType {
			status, n = protowire.ConsumeVarint(message)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return "", fmt.Errorf("parse health response: %w", protowire.ParseError(n))
		}
		message = message[n:]
	}
	if status >= uint64(len(servings())) {
		return "", fmt.Errorf("parse health response: unknown status %d", status)
	}
	return servings()[status], nil
}

// The status codes of gRPC that have a reason of their own.
const (
	codeOK               = 0
	codeInvalidArgument  = 3
	codeDeadlineExceeded = 4
	codeNotFound         = 5
	codePermissionDenied = 7
	codeUnimplemented    = 12
	codeUnauthenticated  = 16
	maxCode              = 16
)

// statusOf returns the status code of a call, and the reason of a failed one.
func statusOf(trailer http.Header) (int, error) {
	text := trailer.Get("Grpc-Status")
	code, err := strconv.Atoi(text)
	if err != nil || code < 0 || code > maxCode {
		return 0, collectors.Errorf(remote.ReasonProtocol, "the response has no grpc-status from 0 to %d: %.20q", maxCode, text)
	}
	if code == codeOK {
		return code, nil
	}
	reason := map[int]remote.Reason{
		codeInvalidArgument: remote.ReasonClientError, codeDeadlineExceeded: remote.ReasonTimeout,
		codeNotFound: remote.ReasonNotFound, codePermissionDenied: remote.ReasonForbidden,
		codeUnimplemented: remote.ReasonMissingEndpoint, codeUnauthenticated: remote.ReasonAuth,
	}[code]
	if reason == "" {
		reason = remote.ReasonServerError
	}
	message := trailer.Get("Grpc-Message")
	if plain, err := url.PathUnescape(message); err == nil {
		message = plain
	}
	return code, collectors.Errorf(reason, "grpc-status %d: %s", code, strings.TrimSpace(message))
}
