// Command grpchealth is a gRPC server with the health service of grpc-go, for tests of the kind grpc.
// SIGUSR1 makes it report NOT_SERVING, and SIGUSR2 SERVING.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func main() {
	network := flag.String("network", "tcp", "tcp or unix")
	listen := flag.String("listen", "", "the address to listen on")
	cert := flag.String("cert", "", "a certificate in PEM; none for plain text")
	key := flag.String("key", "", "the key of the certificate")
	token := flag.String("token", "", "the required value of the metadata authorization")
	delay := flag.Duration("delay", 0, "how long each call takes")
	without := flag.Bool("without-health", false, "register no service")
	flag.Parse()

	guard := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if sent := metadata.ValueFromIncomingContext(ctx, "authorization"); *token != "" && (len(sent) != 1 || sent[0] != *token) {
			return nil, status.Errorf(codes.Unauthenticated, "the token %q is wrong", sent)
		}
		select {
		case <-time.After(*delay):
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		return handle(ctx, req)
	}
	options := []grpc.ServerOption{grpc.UnaryInterceptor(guard)}
	if *cert != "" {
		creds, err := credentials.NewServerTLSFromFile(*cert, *key)
		if err != nil {
			log.Fatal(err)
		}
		options = append(options, grpc.Creds(creds))
	}
	server, checks := grpc.NewServer(options...), health.NewServer()
	checks.SetServingStatus("demo.Api", grpc_health_v1.HealthCheckResponse_SERVING)
	if !*without {
		grpc_health_v1.RegisterHealthServer(server, checks)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			if s == syscall.SIGUSR1 {
				checks.Shutdown()
			} else {
				checks.Resume()
			}
		}
	}()
	l, err := net.Listen(*network, *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Serve(l))
}
