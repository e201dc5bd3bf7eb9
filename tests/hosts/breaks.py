"""
How each kind of fact is broken by hand on the test's host, and what is then seen: one row a kind, some have more.

A row's repair is the role's, unless `mend` says what a person must do: those facts are hardware, links, or wait for a
reboot, and the role says so instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.hosts.files import BRIDGE, CMDLINE, NIC_ADDRESSES, RELEASE

Value = str | int | bool
HARDWARE = "/run/coldaisle/hardware.json"
RAIL0 = NIC_ADDRESSES["rail0"]
SYS_NET, MODULES = "/sys/class/net/rail0", f"/lib/modules/{RELEASE}/modules.dep"


@dataclass(frozen=True, kw_only=True)
class Break:
    """
    One thing broken.

    `also` is what else is drifted with it, `untold` what can then not be told. `at_switch` is done at the other end of
    the rails. `planned` takes the place of the plan's value: for facts that this host's plan does not have, and where
    it is the plan that the host does not follow.
    """

    fact: str
    by: str = ":"
    seen: Value
    role: str = "os"
    also: dict[str, Value] = field(default_factory=dict)
    untold: tuple[str, ...] = ()
    at_switch: str = ":"
    mend: str | None = None
    mend_at_switch: str = ":"
    planned: Value | None = None

    @property
    def kind(self) -> str:
        """Return the fact's kind."""
        return self.fact.partition(".")[0]


def hardware(key: str, value: str) -> str:
    """Return a command that changes the record of the simulated hardware; `value` is Python."""
    return (
        f"cp {HARDWARE} {HARDWARE}.before; python3 - <<'END'\nimport json\npath = '{HARDWARE}'\n"
        f"record = json.load(open(path))\nrecord[{key!r}] = {value}\njson.dump(record, open(path, 'w'))\nEND"
    )


def of_role(role: str, *rows: Break) -> tuple[Break, ...]:
    """Return rows as rows of a role."""
    return tuple(replace(row, role=role) for row in rows)


AS_BEFORE = f"mv {HARDWARE}.before {HARDWARE}"

OS = (
    Break(fact="hostname", by="hostname other", seen="other"),
    Break(
        fact="user.ops",
        by="userdel ops",
        seen="absent",
        also={"files.os": "changed: /home/ops/.ssh/authorized_keys"},
    ),
    Break(fact="sysctl.net.ipv4.tcp_mtu_probing", by="echo 0 > /proc/sys/net/ipv4/tcp_mtu_probing", seen="0"),
    Break(fact="nofile", by="""echo '{"DefaultLimitNOFILE": "1024"}' > /run/limits.json""", seen="1024"),
    Break(fact="timezone", by="ln -sf /usr/share/zoneinfo/Europe/Oslo /etc/localtime", seen="Europe/Oslo"),
    Break(fact="time_sync", by="systemctl disable chrony", seen="disabled"),
    Break(
        fact="clock_synchronized",
        by="echo no > /run/synchronized",
        seen=False,
        mend="echo yes > /run/synchronized",
    ),
    Break(fact="clock_offset_ms", by="echo -0.2503 > /run/offset", seen=251),
    Break(fact="kernel_release", seen=RELEASE, planned="6.8.0-55-generic", mend=":"),
    Break(
        fact="cmdline.iommu",
        by="echo quiet intel_iommu=on hugepagesz=1G hugepages=4 > /run/cmdline",
        seen="not set",
        mend=f"printf '%s' '{CMDLINE}' > /run/cmdline",
    ),
    Break(fact="module.ib_umad", by="modprobe -r ib_umad", seen="not loaded"),
    Break(
        fact="package.pinned",
        by="apt-get -qq install --allow-change-held-packages pinned=1.1-1; apt-mark hold pinned",
        seen="1.1-1",
    ),
    Break(fact="held.pinned", by="apt-mark unhold pinned", seen=False),
    Break(fact="hugepages_2mi", by="echo 7 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", seen=7),
    Break(fact="hugepages_1gi", by="echo 3 > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", seen=3),
    Break(
        fact="cpu_governor",
        by="echo powersave > /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        seen="performance,powersave",
    ),
    Break(
        fact="mac.rail0",
        by="ip link set rail0 down; ip link set rail0 name eth7; ip link set eth7 up",
        seen="absent",
        untold=("address.rail0", "mtu.rail0", "path_mtu.rail0", "route.rail0"),
    ),
    Break(fact="mtu.rail0", by="ip link set rail0 mtu 1500", seen=1500, also={"path_mtu.rail0": 1500}),
    Break(
        fact="address.rail0",
        by="ip address add 10.9.9.9/24 dev rail0",
        seen="10.18.128.1/31,10.9.9.9/24",
    ),
    Break(
        fact="route.rail0",
        by="ip route flush table 100",
        seen="none",
        untold=("path_mtu.rail0",),
    ),
    Break(
        fact="path_mtu.rail0",
        at_switch="ip link set swp0 mtu 4200",
        seen=4200,
        mend=":",
        mend_at_switch="ip link set swp0 mtu 9216",
    ),
    Break(fact="max_read_request.rail0", by=f"setpci -s {RAIL0} CAP_EXP+8.w=2000:7000", seen=512),
    Break(fact="relaxed_ordering.rail0", by=f"setpci -s {RAIL0} CAP_EXP+8.w=0000:0010", seen=False),
    Break(fact="acs_redirect", by=f"setpci -s {BRIDGE} ECAP_ACS+6.w=000c:000c", seen=f"on at {BRIDGE}"),
    Break(
        fact="files.os",
        by="echo '# mine' >> /etc/sysctl.d/90-coldaisle.conf; chmod 666 /etc/sudoers.d/90-ops",
        seen="changed: /etc/sudoers.d/90-ops, /etc/sysctl.d/90-coldaisle.conf",
    ),
)

RDMA = of_role(
    "rdma",
    Break(
        fact="memlock",
        by="""echo '{"DefaultLimitMEMLOCK": "65536", "DefaultLimitNOFILE": "1024"}' > /run/limits.json""",
        seen="65536",
    ),
    Break(fact="vfs.rail0", by=f"echo 4 > {SYS_NET}/device/sriov_numvfs", seen=4),
    Break(fact="firmware_vfs.rail0", by=f"mlxconfig -y -d {RAIL0} set SRIOV_EN=0", seen=0),
    Break(
        fact="rdma_device.rail0",
        by="sed -i s/ACTIVE/DOWN/ /run/rdma.json",
        seen="down",
        mend="sed -i s/DOWN/ACTIVE/ /run/rdma.json",
    ),
    Break(fact="rdma_netns", by="rdma system set netns shared", seen="shared"),
    Break(fact="roce_dscp", by="echo 0 > /sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_tos", seen="0,26"),
    Break(
        fact="gid.rail0",
        by="mv /sys/class/infiniband/mlx5_0/ports/1/gids/2 /run/gid",
        seen="none",
        mend="mv /run/gid /sys/class/infiniband/mlx5_0/ports/1/gids/2",
    ),
    Break(fact="pfc.rail0", by="mlnx_qos -i rail0 --pfc 0,0,0,1,0,1,0,0", seen="3,5"),
    Break(fact="qos_trust.rail0", by="mlnx_qos -i rail0 --trust pcp", seen="pcp"),
    Break(fact="dscp_priority.rail0.26", by="mlnx_qos -i rail0 --dscp2prio set,26,0", seen=0),
    Break(fact="ecn.rail0", by=f"echo 0 > {SYS_NET}/ecn/roce_rp/enable/3", seen="none"),
    Break(
        fact="files.rdma",
        by="rm /etc/udev/rules.d/90-coldaisle-vfs.rules",
        seen="changed: /etc/udev/rules.d/90-coldaisle-vfs.rules",
    ),
)

GPU = of_role(
    "gpu",
    Break(fact="gpu_count", by=hardware("gpus", "record['gpus'][:7]"), seen=7, mend=AS_BEFORE),
    Break(
        fact="driver",
        by=hardware("driver_version", "'570.1.1'"),
        seen="570.1.1",
        also={"driver_pin": "570.1.1"},
        mend=AS_BEFORE,
    ),
    Break(fact="driver_pin", by=hardware("driver_version", "'595.91.07'"), seen="595.91.07", mend=AS_BEFORE),
    Break(
        fact="fabric_manager",
        by=hardware("fabric_manager_version", "'580.126.20'"),
        seen="580.126.20, with driver 580.95.05",
        mend=AS_BEFORE,
    ),
    Break(
        fact="kernel_support",
        by=f"mv {MODULES} /run/modules.dep; grep -v nvidia /run/modules.dep > {MODULES}",
        seen=f"neither a module nor headers for {RELEASE}",
        mend=f"mv /run/modules.dep {MODULES}",
    ),
    Break(fact="fabric_state", by=hardware("fabric_state", "'In Progress'"), seen="In Progress", mend=AS_BEFORE),
    Break(fact="persistence", by="nvidia-smi -pm 0", seen=False),
    Break(
        fact="ecc_uncorrected",
        by=hardware("gpus", "[dict(record['gpus'][0], ecc_uncorrected=2), *record['gpus'][1:]]"),
        seen=2,
        mend=AS_BEFORE,
    ),
    Break(fact="nouveau", by="modprobe nouveau", seen="loaded"),
    Break(
        fact="imex_service",
        by="systemctl unmask nvidia-imex.service; systemctl enable --now nvidia-imex.service",
        seen="active",
    ),
    Break(
        fact="files.gpu",
        by="echo > /etc/modprobe.d/90-coldaisle-nouveau.conf",
        seen="changed: /etc/modprobe.d/90-coldaisle-nouveau.conf",
    ),
)

IMEX_FILE = "/etc/nvidia-imex/nodes_config.cfg"
IMAGE_FILE = "/srv/coldaisle/http/images/debian/vmlinuz"
OTHERS = of_role(
    "others",
    Break(
        fact="imex_nodes",
        planned="10.18.1.101,10.18.1.103",
        by=f"echo 10.18.1.101 > {IMEX_FILE}",
        seen="10.18.1.101",
        mend=f"printf '# domain\\n10.18.1.103\\n10.18.1.101\\n' > {IMEX_FILE}",
    ),
    Break(
        fact="driver_packages",
        planned="none",
        by="apt-get -qq install nvidia-fabricmanager",
        seen="nvidia-fabricmanager",
        mend="dpkg --purge nvidia-fabricmanager",
    ),
    Break(
        fact="amd_gpu_count",
        planned=2,
        by="mv /sys/bus/pci/drivers/amdgpu/0000:2b:00.0 /run/gpu",
        seen=1,
        mend="mv /run/gpu /sys/bus/pci/drivers/amdgpu/0000:2b:00.0",
    ),
    Break(
        fact="amd_driver",
        planned="6.12.12",
        by="mv /sys/module/amdgpu/version /run/version",
        seen="the kernel's own",
        mend="mv /run/version /sys/module/amdgpu/version",
    ),
    Break(fact="service.lldpd", planned="active", by="systemctl disable lldpd", seen="inactive"),
    Break(
        fact="kubelet_config",
        planned="2c26b46b68ffc68f",  # of the text `foo`
        by="printf bar > /var/lib/kubelet/config.yaml",
        seen="fcde2b2edba56bf4",  # of the text `bar`
        mend="printf foo > /var/lib/kubelet/config.yaml",
    ),
    Break(
        fact="boot.r01-n01",
        planned="allowed",
        by="rm /srv/coldaisle/http/boot/r01-n01.ipxe",
        seen="denied",
        mend="printf '# r01-n01: image debian\\n' > /srv/coldaisle/http/boot/r01-n01.ipxe",
    ),
    Break(
        fact="image.debian.vmlinuz",
        planned="2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        by=f"rm {IMAGE_FILE}",
        seen="absent",
        mend=f"printf foo > {IMAGE_FILE}",
    ),
)

PREPARE_OTHERS = (
    f"mkdir -p /etc/nvidia-imex /var/lib/kubelet /srv/coldaisle/http/boot {IMAGE_FILE.rpartition('/')[0]}",
    *(row.mend for row in OTHERS if row.mend and row.mend.startswith("printf")),
    "systemctl enable --now lldpd",
)
"""What makes the last rows' facts true to begin with: on this host no role does."""

BREAKS = (*OS, *RDMA, *GPU, *OTHERS)
