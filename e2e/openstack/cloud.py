"""Fills the cloud through its APIs, and breaks what can be broken through them.

cloud.py provision              makes or repairs users, roles, catalog, network
cloud.py password USER PASSWORD sets a password, which revokes the user's tokens
cloud.py publish TYPE URL ROLE  adds a service to the catalog, and gives healthcheck its role
cloud.py drop-endpoints         removes Neutron from the catalog
cloud.py port-quota LIMIT|reset exhausts the health project's ports, or undoes it

Addresses and passwords come from the environment; see openstack.sh.
"""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

KEYSTONE = os.environ["KEYSTONE_URL"]
NEUTRON = os.environ["NEUTRON_URL"]
DEFAULT = {"id": "default"}
OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def call(method, url, token=None, body=None):
    """Returns the headers and the decoded body of the answer; an error ends the program.

    With sqlite, a transaction that first reads and then writes fails at once while another one
    writes ("database is locked"), and uwsgi closes the connection without an answer. Nothing
    was written then, so the request is sent again, up to ten times in 5 s.
    """
    headers = {"Content-Type": "application/json"}
    if token:
        headers["X-Auth-Token"] = token
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(10):
        time.sleep(0.5 if attempt else 0)
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with OPEN(request, timeout=60) as answer:
                text = answer.read()
                return answer.headers, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            problem = "%s %s: %s %s" % (method, url, error.code, error.read()[:400])
            if error.code < 500:
                break
        except (http.client.RemoteDisconnected, ConnectionResetError) as error:
            problem = "%s %s: %s" % (method, url, error)
    sys.exit(problem)


def login(user, password, project):
    """Returns a token that is scoped to the project."""
    identity = {"methods": ["password"], "password": {"user": {"name": user, "domain": DEFAULT, "password": password}}}
    scope = {"project": {"name": project, "domain": DEFAULT}}
    return call("POST", KEYSTONE + "/auth/tokens", None, {"auth": {"identity": identity, "scope": scope}})[0]["X-Subject-Token"]


def admin():
    return login("admin", os.environ["ADMIN_PASSWORD"], "admin")


def ensure(token, base, kind, query, body):
    """Returns the object's id, of one that the query finds or of a new one."""
    found = call("GET", "%s/%s?%s" % (base, kind, query), token)[1][kind]
    if not found:
        found = [call("POST", "%s/%s" % (base, kind), token, {kind[:-1]: body})[1][kind[:-1]]]
    return found[0]["id"]


def provision():
    token = admin()
    roles = {role["name"]: role["id"] for role in call("GET", KEYSTONE + "/roles", token)[1]["roles"]}
    for user, password, project, role in (
        ("neutron", os.environ["NEUTRON_PASSWORD"], "service", "admin"),
        ("healthcheck", os.environ["HEALTH_PASSWORD"], "health", "reader"),
    ):
        pid = ensure(token, KEYSTONE, "projects", "name=" + project, {"name": project, "domain_id": "default"})
        uid = ensure(token, KEYSTONE, "users", "name=" + user, {"name": user, "domain_id": "default", "password": password})
        call("PUT", "%s/projects/%s/users/%s/roles/%s" % (KEYSTONE, pid, uid, roles[role]), token)
    service = ensure(token, KEYSTONE, "services", "type=network", {"type": "network", "name": "neutron"})
    for interface in ("public", "internal", "admin"):
        body = {"service_id": service, "interface": interface, "region_id": "RegionOne", "url": NEUTRON}
        ensure(token, KEYSTONE, "endpoints", "service_id=%s&interface=%s" % (service, interface), body)
    token = admin()
    network = ensure(token, NEUTRON + "/v2.0", "networks", "name=health-net", {"name": "health-net", "shared": True})
    subnet = {"name": "health-subnet", "network_id": network, "ip_version": 4, "cidr": "192.0.2.0/24", "enable_dhcp": False}
    ensure(token, NEUTRON + "/v2.0", "subnets", "name=health-subnet", subnet)
    # The first listing of a server takes seconds; this one is not measured.
    call("GET", NEUTRON + "/v2.0/networks?limit=1", login("healthcheck", os.environ["HEALTH_PASSWORD"], "health"))


def publish(kind, url, role):
    token = admin()
    service = ensure(token, KEYSTONE, "services", "type=" + kind, {"type": kind, "name": kind})
    body = {"service_id": service, "interface": "public", "region_id": "RegionOne", "url": url}
    ensure(token, KEYSTONE, "endpoints", "service_id=" + service, body)
    rid = ensure(token, KEYSTONE, "roles", "name=" + role, {"name": role})
    pid = call("GET", KEYSTONE + "/projects?name=health", token)[1]["projects"][0]["id"]
    uid = call("GET", KEYSTONE + "/users?name=healthcheck", token)[1]["users"][0]["id"]
    call("PUT", "%s/projects/%s/users/%s/roles/%s" % (KEYSTONE, pid, uid, rid), token)


def set_password(user, password):
    token = admin()
    uid = call("GET", KEYSTONE + "/users?name=" + user, token)[1]["users"][0]["id"]
    call("PATCH", KEYSTONE + "/users/" + uid, token, {"user": {"password": password}})


def drop_endpoints():
    token = admin()
    service = call("GET", KEYSTONE + "/services?type=network", token)[1]["services"][0]["id"]
    for endpoint in call("GET", KEYSTONE + "/endpoints?service_id=" + service, token)[1]["endpoints"]:
        call("DELETE", KEYSTONE + "/endpoints/" + endpoint["id"], token)


def port_quota(limit):
    token = admin()
    project = call("GET", KEYSTONE + "/projects?name=health", token)[1]["projects"][0]["id"]
    quota = "%s/v2.0/quotas/%s" % (NEUTRON, project)
    ports = NEUTRON + "/v2.0/ports"
    if limit == "reset":
        call("DELETE", quota, token)
        for port in call("GET", ports + "?name=filler", token)[1]["ports"]:
            call("DELETE", ports + "/" + port["id"], token)
        return
    call("PUT", quota, token, {"quota": {"port": int(limit)}})
    network = call("GET", NEUTRON + "/v2.0/networks?name=health-net", token)[1]["networks"][0]["id"]
    for _ in range(int(limit)):
        call("POST", ports, token, {"port": {"name": "filler", "network_id": network, "project_id": project}})


COMMANDS = {"provision": provision, "publish": publish, "password": set_password, "drop-endpoints": drop_endpoints, "port-quota": port_quota}
COMMANDS[sys.argv[1]](*sys.argv[2:])
