"""The plugin `pulumi-resource-coldaisle`: Ansible plays as resources."""
