package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// scope is the requested scope of a token.
type scope int

const (
	scopeNone scope = iota
	scopeProject
	scopeOther // one that the user has no role in, or that does not exist
)

// auth is a request for a token.
type auth struct {
	token    string // for the method "token"
	user     bool   // whether it names the user that exists
	password string
	scope    scope
}

// named is a user, project or domain, by identifier or by name within a domain.
type named struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Domain *named `json:"domain"`
}

// is reports whether the reference is to the entity of this identifier and name.
func (n named) is(id, name string) bool {
	if n.ID != "" {
		return n.ID == id
	}
	return n.Name == name && n.Domain != nil && (n.Domain.ID == domainID || n.Domain.ID == "" && n.Domain.Name == domainName)
}

// parseAuth reads the body of POST /v3/auth/tokens.
func parseAuth(body io.Reader) (auth, error) {
	var request struct {
		Auth struct {
			Identity struct {
				Methods  []string `json:"methods"`
				Password struct {
					User struct {
						named
						Password string `json:"password"`
					} `json:"user"`
				} `json:"password"`
				Token struct {
					ID string `json:"id"`
				} `json:"token"`
			} `json:"identity"`
			Scope json.RawMessage `json:"scope"`
		} `json:"auth"`
	}
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return auth{}, err
	}
	identity := request.Auth.Identity
	if len(identity.Methods) != 1 {
		return auth{}, errors.New("expected one method")
	}
	a := auth{scope: parseScope(request.Auth.Scope)}
	switch identity.Methods[0] {
	case "token":
		a.token = identity.Token.ID
	case "password":
		a.user = identity.Password.User.is(userID, username)
		a.password = identity.Password.User.Password
	}
	return a, nil
}

func parseScope(raw json.RawMessage) scope {
	var wanted struct {
		Project *named `json:"project"`
	}
	var word string
	switch {
	case raw == nil, json.Unmarshal(raw, &word) == nil && word == "unscoped":
		return scopeNone
	case json.Unmarshal(raw, &wanted) == nil && wanted.Project != nil && wanted.Project.is(projectID, project):
		return scopeProject
	}
	return scopeOther
}

// tokenBody is the response with a token.
func (k *keystone) tokenBody(tok token) map[string]any {
	domain := map[string]string{"id": domainID, "name": domainName}
	body := map[string]any{
		"methods": []string{"password"}, "audit_ids": []string{fmt.Sprintf("audit-%d", tok.number)},
		"issued_at": stamp(tok.issued), "expires_at": stamp(tok.expires),
		"user": map[string]any{"id": userID, "name": username, "domain": domain, "password_expires_at": nil},
	}
	if tok.scoped {
		body["project"] = map[string]any{"id": projectID, "name": project, "domain": domain}
		body["is_domain"] = false
		body["roles"] = []any{map[string]string{"id": "5c1d7b3e9f2a4c6d8e0f1a2b3c4d5e6f", "name": "member"}}
		body["catalog"] = k.catalog()
	}
	return map[string]any{"token": body}
}

// catalog lists the services. Under faultNoEndpoint the network service has an empty
// list of endpoints, as in Keystone after they were deleted.
func (k *keystone) catalog() []any {
	fault, _ := k.service.state()
	const identityID, networkID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "1b2c3d4e5f60718293a4b5c6d7e8f90a"
	network := endpoints(networkID, k.network())
	if fault == faultNoEndpoint {
		network = []any{}
	}
	return []any{
		map[string]any{"id": identityID, "type": "identity", "name": "keystone", "endpoints": endpoints(identityID, k.service.url()+"/v3")},
		map[string]any{"id": networkID, "type": "network", "name": "neutron", "endpoints": network},
	}
}

func endpoints(service, url string) []any {
	var list []any
	for i, face := range []string{"public", "internal", "admin"} {
		id := fmt.Sprintf("%s%d", service[1:], i)
		list = append(list, map[string]string{"id": id, "interface": face, "region": region, "region_id": region, "url": url})
	}
	return list
}

// stamp formats a time as Keystone does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
