package openstack

import (
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

// fromEnvironment adds the variables of OpenStack's clients, unless a has a cloud or a login.
// getenv is os.Getenv.
//
// gophercloud's AuthOptionsFromEnv reads only OS_DOMAIN_*, for the user and the project. It ignores
// OS_USER_DOMAIN_* and OS_PROJECT_DOMAIN_*, which current openrc files set.
func (a Auth) fromEnvironment(getenv func(string) string) Auth {
	if a.Cloud != "" || len(a.identityKeys()) > 0 {
		return a
	}
	first := func(names ...string) string {
		for _, name := range names {
			if v := getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	fill := func(field *string, names ...string) {
		if *field == "" {
			*field = first(names...)
		}
	}
	if a.Cloud = first("OS_CLOUD"); a.Cloud != "" || a.CloudsFile != "" {
		return a
	}
	a = loginFromEnvironment(a, first)
	fill(&a.Region, "OS_REGION_NAME")
	fill(&a.Interface, "OS_INTERFACE", "OS_ENDPOINT_TYPE")
	fill(&a.CAFile, "OS_CACERT")
	if a.CertFile == "" && a.KeyFile == "" {
		a.CertFile, a.KeyFile = first("OS_CERT"), first("OS_KEY")
	}
	a.Insecure = a.Insecure || flagVariable(first("OS_INSECURE"))
	return a
}

// loginFromEnvironment returns the login of the variables, with the other keys of a.
func loginFromEnvironment(a Auth, first func(...string) string) Auth {
	login := Auth{
		AuthURL:                     first("OS_AUTH_URL"),
		Username:                    first("OS_USERNAME"),
		UserID:                      first("OS_USER_ID", "OS_USERID"),
		UserDomainName:              first("OS_USER_DOMAIN_NAME"),
		UserDomainID:                first("OS_USER_DOMAIN_ID"),
		Password:                    collectors.Secret(first("OS_PASSWORD")),
		ProjectName:                 first("OS_PROJECT_NAME", "OS_TENANT_NAME"),
		ProjectID:                   first("OS_PROJECT_ID", "OS_TENANT_ID"),
		ProjectDomainName:           first("OS_PROJECT_DOMAIN_NAME"),
		ProjectDomainID:             first("OS_PROJECT_DOMAIN_ID"),
		ApplicationCredentialID:     first("OS_APPLICATION_CREDENTIAL_ID"),
		ApplicationCredentialName:   first("OS_APPLICATION_CREDENTIAL_NAME"),
		ApplicationCredentialSecret: collectors.Secret(first("OS_APPLICATION_CREDENTIAL_SECRET")),

		Region: a.Region, Interface: a.Interface, CAFile: a.CAFile, CertFile: a.CertFile, KeyFile: a.KeyFile,
		Insecure: a.Insecure, Reauthenticate: a.Reauthenticate,
	}
	login.UserDomainID, login.UserDomainName = oneDomain(login.UserDomainID, login.UserDomainName, first)
	login.ProjectDomainID, login.ProjectDomainName = oneDomain(login.ProjectDomainID, login.ProjectDomainName, first)
	return login.withoutRedundancy()
}

// oneDomain uses the common domain of user and project as the default, and prefers the id, because
// the openrc files of Horizon set both.
func oneDomain(id, name string, first func(...string) string) (string, string) {
	if id == "" && name == "" {
		id, name = first("OS_DOMAIN_ID"), first("OS_DOMAIN_NAME")
	}
	if id != "" {
		name = ""
	}
	return id, name
}

// withoutRedundancy removes names and domains that an id makes redundant. openrc files set both,
// and Keystone rejects some of these combinations.
func (a Auth) withoutRedundancy() Auth {
	if a.ApplicationCredentialID != "" {
		a.ApplicationCredentialName, a.Username, a.UserID, a.Password = "", "", "", ""
	}
	if a.ApplicationCredentialName != "" {
		a.Password = ""
	}
	if a.UserID != "" {
		a.Username = ""
	}
	if a.Username == "" {
		a.UserDomainName, a.UserDomainID = "", ""
	}
	if a.ProjectID != "" {
		a.ProjectName = ""
	}
	if a.ProjectName == "" {
		a.ProjectDomainName, a.ProjectDomainID = "", ""
	}
	return a
}

// flagVariable parses a Boolean variable.
func flagVariable(text string) bool {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// withDefaults sets the defaults of a block that was not decoded from YAML.
func (a Auth) withDefaults() Auth {
	if a.Reauthenticate <= 0 {
		a.Reauthenticate = model.Duration(defaultReauthenticate)
	}
	return a
}
