package tripleo

import (
	"regexp"

	"github.com/vitals-health/vitals/collectors"
)

var (
	// A listener with an address, in the format of puppet-rabbitmq.
	rabbitTCP = regexp.MustCompile(`\{tcp_listeners, *\[ *\{"([^"]*)", *([0-9]+)\}`)
	rabbitTLS = regexp.MustCompile(`\{ssl_listeners, *\[ *\{"([^"]*)", *([0-9]+)\}`)
	rabbitCA  = regexp.MustCompile(`\{cacertfile, *"([^"]*)"\}`)
	// The default user of a new node; TripleO sets the password.
	rabbitUser     = regexp.MustCompile(`\{default_user, *<<"([^"]+)">>\}`)
	rabbitPassword = regexp.MustCompile(`\{default_pass, *<<"([^"]+)">>\}`)
	// Comments begin with %.
	rabbitComment = regexp.MustCompile(`(?m)^\s*%.*$`)
)

// rabbitmq reads rabbitmq-env.conf and rabbitmq.config (https://www.rabbitmq.com/docs/configure):
// the node's address and port, with or without the variables' prefix RABBITMQ_, or else
// those of the first listener of rabbitmq.config, and the default user.
func rabbitmq(text string) (Endpoint, error) {
	variables := shellVariables(text)
	text = rabbitComment.ReplaceAllString(text, "")
	var e Endpoint
	host, port := "127.0.0.1", "5672"
	if m := rabbitTCP.FindStringSubmatch(text); m != nil {
		host, port = m[1], m[2]
	} else if m := rabbitTLS.FindStringSubmatch(text); m != nil {
		host, port, e.TLS = m[1], m[2], &TLS{}
		if ca := rabbitCA.FindStringSubmatch(text); ca != nil {
			e.TLS.CAFile = ca[1]
		}
	}
	if e.TLS == nil {
		for _, prefix := range []string{"", "RABBITMQ_"} {
			setIf(&host, variables[prefix+"NODE_IP_ADDRESS"])
			setIf(&port, variables[prefix+"NODE_PORT"])
		}
	}
	user, password := rabbitUser.FindStringSubmatch(text), rabbitPassword.FindStringSubmatch(text)
	if user != nil && password != nil {
		e.Username, e.Password = user[1], collectors.Secret(password[1])
	}
	var err error
	e.Address, err = reach(host, port)
	return e, err
}
