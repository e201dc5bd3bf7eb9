// Command pulumi-resource-kubernetes serves the Kubernetes provider from its module. The module's own main
// embeds a generated schema that the module does not carry, so this one serves a minimal schema: programs
// bring the SDK's, and the engine asks a provider for its schema only to generate code.
package main

import (
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

const schema = `{"name":"kubernetes","version":"4.25.0","resources":{},"types":{},"functions":{}}`

func main() { provider.Serve("kubernetes", version.Version, []byte(schema), []byte("{}")) }
