//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestTripleoRedis(t *testing.T) {
	t.Parallel()
	listen := address(t)
	lab := newTripleoLab(t, map[string]string{"etc/redis/redis.conf": "bind 127.0.0.1\nport " + tcpPort(t, listen) + "\nrequirepass test-password\n"})
	server := redisServer(t, listen, lab.dir, "--save", "", "--requirepass", "test-password")
	lab.serve(t, "redis")
	t.Run("E28 PONG", func(t *testing.T) {
		lab.ends(t, "redis", nil, 0, "^ok 0 ready: .*redis: redis "+listen+` \+PONG\n$`)
	})
	t.Run("E28 another password", func(t *testing.T) {
		lab.write(t, "etc/redis/redis.conf", "bind 127.0.0.1\nport "+tcpPort(t, listen)+"\nrequirepass test-password-2\n")
		lab.ends(t, "redis", nil, 1, "^failing 1 ServerDown failing: redis does not answer as it should: auth")
		lab.write(t, "etc/redis/redis.conf", "bind 127.0.0.1\nport "+tcpPort(t, listen)+"\nrequirepass test-password\n")
		lab.ends(t, "redis", nil, 0, "^ok 0 ready: ")
	})
	t.Run("E04 killed", func(t *testing.T) {
		server.kill()
		lab.ends(t, "redis", nil, 1, "ServerDown failing: redis does not answer as it should: refused")
	})
}

func TestTripleoMemcached(t *testing.T) {
	t.Parallel()
	listen := address(t)
	lab := newTripleoLab(t, map[string]string{"etc/sysconfig/memcached": fmt.Sprintf("PORT=%q\nOPTIONS=\"-l 127.0.0.1 -U 0\"\n", tcpPort(t, listen))})
	server := tcpServe(t, "/usr/bin/memcached", "-l", "127.0.0.1", "-p", tcpPort(t, listen), "-U", "0", "-u", "memcache")
	lab.serve(t, "memcached")
	t.Run("E28 the version", func(t *testing.T) {
		lab.ends(t, "memcached", nil, 0, "^ok 0 ready: .*memcached: memcached "+listen)
	})
	t.Run("E06 stopped", func(t *testing.T) {
		server.signal(t, syscall.SIGSTOP)
		lab.ends(t, "memcached", nil, 1, "ServerDown failing: memcached does not answer as it should: timeout")
		server.signal(t, syscall.SIGCONT)
		lab.ends(t, "memcached", nil, 0, "^ok 0 ready: ")
	})
}

func TestTripleoEtcd(t *testing.T) {
	t.Parallel()
	listen, peer := address(t), address(t)
	lab := newTripleoLab(t, map[string]string{"etc/etcd/etcd.conf": "ETCD_NAME=\"m0\"\nETCD_LISTEN_CLIENT_URLS=\"http://" + listen + "\"\n"})
	server := tcpServe(t, debianEtcd, "--name=m0", "--data-dir="+lab.dir+"/m0", "--logger=zap", "--log-level=error",
		"--listen-client-urls=http://"+listen, "--advertise-client-urls=http://"+listen, "--listen-peer-urls=http://"+peer,
		"--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=m0=http://"+peer)
	lab.serve(t, "etcd")
	t.Run("E29 the conf is there", func(t *testing.T) {
		lab.ends(t, "etcd", nil, 0, "^ok 0 ready: .*etcd: etcd "+listen+" health is true")
	})
	t.Run("E04 killed", func(t *testing.T) {
		server.kill()
		lab.ends(t, "etcd", nil, 1, "ServerDown failing: etcd does not answer as it should: refused")
	})
	t.Run("E29 the conf is missing", func(t *testing.T) {
		if err := os.Remove(filepath.Join(lab.dir, "etc/etcd/etcd.conf")); err != nil {
			t.Fatal(err)
		}
		out, code := lab.alone(t, "etcd")
		if code != 1 || out != "usage error 1 service etcd: "+lab.dir+"/etc/etcd/etcd.conf: there is no such file\n" {
			t.Errorf("healthcheck = %d %q, want 1, the file and no environment", code, out)
		}
	})
}

func TestTripleoMariaDB(t *testing.T) {
	t.Parallel()
	lab := newTripleoLab(t, map[string]string{"root/.my.cnf": "[client]\nuser=root\n", "var/lib/mysql/x": ""})
	server := mariadbServer(t, address(t))
	if err := os.Symlink(server.socket(), filepath.Join(lab.dir, "var/lib/mysql/mysql.sock")); err != nil {
		t.Fatal(err)
	}
	lab.serve(t, "mariadb")
	t.Run("select 1", func(t *testing.T) {
		lab.ends(t, "mariadb", nil, 0, "^ok 0 ready: .*mysql: mysql unix:.*"+mariadbWell)
	})
	t.Run("E02 the login is refused", func(t *testing.T) {
		lab.write(t, "root/.my.cnf", "[client]\nuser=stranger\npassword=test-password\n")
		lab.ends(t, "mariadb", nil, 1, "^failing 1 DatabaseDown failing: mysql does not answer as it should: auth")
		lab.write(t, "root/.my.cnf", "[client]\nuser=root\n")
		lab.ends(t, "mariadb", nil, 0, "^ok 0 ready: ")
	})
	t.Run("E04 killed", func(t *testing.T) {
		server.kill()
		lab.ends(t, "mariadb", nil, 1, "^failing 1 DatabaseDown failing: mysql does not answer as it should: refused")
	})
}

func TestTripleoRabbitMQ(t *testing.T) {
	t.Parallel()
	listen := address(t)
	lab := newTripleoLab(t, map[string]string{"etc/rabbitmq/rabbitmq-env.conf": "NODE_IP_ADDRESS=127.0.0.1\nNODE_PORT=" + tcpPort(t, listen) + "\n"})
	server := rabbitServer(t, listen)
	lab.serve(t, "rabbitmq")
	t.Run("a connection opens", func(t *testing.T) {
		lab.ends(t, "rabbitmq", nil, 0, "^ok 0 ready: .*rabbitmq: amqp "+listen+" "+rabbitWell)
	})
	t.Run("the login is refused", func(t *testing.T) {
		lab.write(t, "etc/rabbitmq/rabbitmq.config", "[{rabbit, [{default_user, <<\"guest\">>}, {default_pass, <<\"test-password\">>}]}].\n")
		lab.ends(t, "rabbitmq", nil, 0, "^warning 0 LoginRefused failing: rabbitmq runs and refuses the login of this check")
	})
	t.Run("E04 killed", func(t *testing.T) {
		server.kill()
		lab.ends(t, "rabbitmq", nil, 1, "^failing 1 ServerDown failing: rabbitmq does not answer as it should: refused")
	})
}
