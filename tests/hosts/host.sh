#!/bin/sh
# Makes the root of the test's host and stays in it: a layer over this machine's own root, files for what the kernel
# would tell of hardware, and two veth pairs to a switch, which is the network namespace of process $2. Runs in mount,
# UTS and network namespaces of its own; all of it goes when the process ends.
set -eu
top=$1 switch=$2 files=$3
mount -t tmpfs coldaisle-test "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o "lowerdir=/,upperdir=$top/upper,workdir=$top/work" coldaisle-test "$top/root"
root=$top/root
for folder in dev proc; do mount --rbind "/$folder" "$root/$folder"; done
for folder in sys run tmp; do mount -t tmpfs coldaisle-test "$root/$folder"; done
cp -a "$files/." "$root/"
mount --bind "$root/run/cmdline" "$root/proc/cmdline"
hostname unset
ip link set lo up
for number in 0 1; do
  ip link add "rail$number" address "52:54:00:01:01:0$((2 + number))" type veth peer name "swp$number" netns "$switch"
  nsenter -t "$switch" -n ip address add "10.18.128.$((2 * number))/31" dev "swp$number"
  nsenter -t "$switch" -n ip link set "swp$number" mtu 9216 up
done
ip link add mgmt0 address 52:54:00:01:01:01 type veth peer name mgmt-peer
touch "$root/run/ready"
exec chroot "$root" /usr/bin/sleep infinity
