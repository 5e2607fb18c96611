// Package profiles ships configurations for known deployments: the Kuryr controller and
// its CNI daemon, SONiC containers and TripleO containers. A profile reads the files of
// an existing deployment and turns them into collectors and rule files.
package profiles
