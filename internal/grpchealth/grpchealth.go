// Package grpchealth serves the health checking protocol of gRPC. Each answer is a verdict that the
// program has already: no call waits for a dependency.
package grpchealth

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // For clients that compress, such as grpc-health-probe -gzip.
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/states"
)

const (
	// maxRequest bounds a request in bytes. The name of a service is all that it has.
	maxRequest = 4 << 10
	// maxWatches bounds the calls of Watch of a Server at a time.
	maxWatches = 64
	// maxCalls bounds the other calls of a Server that the library serves at a time. Further ones wait:
	// each takes microseconds, and a connection has few streams.
	maxCalls = 32
	// lookInterval is how often Watch looks at the verdict when no other is published: that
	// of a stalled evaluator changes by its age.
	lookInterval = time.Second
)

// Source has the verdicts. It is safe for concurrent use.
type Source interface {
	// Services returns the word of package states of every service, by its name. The caller
	// owns the map.
	Services() map[string]string
	// Service returns the word of one service. ok is false for an unknown name.
	Service(name string) (word string, ok bool)
	// Changed returns a channel that is closed when the words may have changed.
	Changed() <-chan struct{}
}

// Server serves the verdicts of a Source. It is safe for concurrent use.
type Server struct {
	healthgrpc.UnimplementedHealthServer
	source Source
	grpc   *grpc.Server
	// watches and calls hold one token per call.
	watches, calls chan struct{}
	// ended is closed by Close.
	ended chan struct{}
	end   sync.Once
}

// New returns a Server.
func New(source Source) *Server {
	s := &Server{
		source:  source,
		watches: make(chan struct{}, maxWatches),
		calls:   make(chan struct{}, maxCalls),
		ended:   make(chan struct{}),
	}
	// The library runs a call in a goroutine of its own, where a panic would end the process.
	s.grpc = grpc.NewServer(grpc.MaxRecvMsgSize(maxRequest), grpc.UnaryInterceptor(recoverCall), grpc.StreamInterceptor(recoverStream))
	healthgrpc.RegisterHealthServer(s.grpc, s)
	return s
}

// Close ends the calls of Watch with the code UNAVAILABLE, as well as all later calls.
func (s *Server) Close() { s.end.Do(func() { close(s.ended) }) }

// Handler serves calls over HTTP/2, and passes all other requests on to next.
func (s *Server) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			next.ServeHTTP(w, r)
			return
		}
		s.call(w, r)
	})
}

// Check returns the verdict of a service.
func (s *Server) Check(_ context.Context, r *healthgrpc.HealthCheckRequest) (*healthgrpc.HealthCheckResponse, error) {
	if s.isClosed() {
		return nil, errEnded()
	}
	word, ok := s.source.Service(r.GetService())
	if !ok {
		return nil, status.Errorf(codes.NotFound, "there is no service of this name: List returns those that there are")
	}
	return &healthgrpc.HealthCheckResponse{Status: Serving(word)}, nil
}

// List returns the verdicts of all services.
func (s *Server) List(context.Context, *healthgrpc.HealthListRequest) (*healthgrpc.HealthListResponse, error) {
	if s.isClosed() {
		return nil, errEnded()
	}
	all := map[string]*healthgrpc.HealthCheckResponse{}
	for name, word := range s.source.Services() {
		all[name] = &healthgrpc.HealthCheckResponse{Status: Serving(word)}
	}
	return &healthgrpc.HealthListResponse{Statuses: all}, nil
}

// Watch sends the verdict of a service, and then each that differs from the last.
func (s *Server) Watch(r *healthgrpc.HealthCheckRequest, stream grpc.ServerStreamingServer[healthgrpc.HealthCheckResponse]) error {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	last := healthgrpc.HealthCheckResponse_ServingStatus(-1)
	for {
		changed := s.source.Changed() // Before the verdict is read, so that no change is missed.
		now := healthgrpc.HealthCheckResponse_SERVICE_UNKNOWN
		if word, ok := s.source.Service(r.GetService()); ok {
			now = Serving(word)
		}
		if now != last {
			if err := stream.Send(&healthgrpc.HealthCheckResponse{Status: now}); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		case <-s.ended:
			return errEnded()
		}
	}
}

// Serving returns the status of the protocol for a word of package states. Clients read every
// status other than SERVING as a failure.
// Source: https://github.com/grpc/grpc/blob/master/doc/health-checking.md.
func Serving(word string) healthgrpc.HealthCheckResponse_ServingStatus {
	switch word {
	case states.OK, states.Warning, states.Pending:
		return healthgrpc.HealthCheckResponse_SERVING
	case states.Failing:
		return healthgrpc.HealthCheckResponse_NOT_SERVING
	}
	return healthgrpc.HealthCheckResponse_UNKNOWN
}

// isClosed reports whether Close was called.
func (s *Server) isClosed() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func errEnded() error { return status.Error(codes.Unavailable, "the process is shutting down") }

// recoverCall turns a panic into the error of the call.
func recoverCall(ctx context.Context, request any, _ *grpc.UnaryServerInfo, call grpc.UnaryHandler) (response any, err error) {
	if panicked := panics.Try(func() { response, err = call(ctx, request) }); panicked != nil {
		return nil, status.Error(codes.Internal, panicked.Error())
	}
	return response, err
}

// recoverStream is recoverCall for a stream.
func recoverStream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, call grpc.StreamHandler) (err error) {
	if panicked := panics.Try(func() { err = call(server, stream) }); panicked != nil {
		return status.Error(codes.Internal, panicked.Error())
	}
	return err
}
