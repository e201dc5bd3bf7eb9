"""
The site plan: everything that follows from a spec, as frozen plain data.

Nothing after the plan makes a choice, so each record says all that a renderer, a component, a playbook or the
simulated site needs. Units are in the names. `None` means "not known" or "not asked for", never zero.
"""

from __future__ import annotations

from coldaisle.plan.model.cluster import (
    AutoscalerPlan,
    ClusterPlan,
    EndpointPlan,
    GpuStackPlan,
    NamespacePlan,
    ReleasePlan,
)
from coldaisle.plan.model.execution import ExecutionNodePlan, ExecutionPlan
from coldaisle.plan.model.fabrics import (
    BgpPlan,
    CablePlan,
    FabricPlan,
    PortPlan,
    RoceClassPlan,
    SwitchAccessPlan,
    SwitchPlan,
)
from coldaisle.plan.model.facility import (
    CoolingPlan,
    DevicePlacement,
    FacilityPlan,
    LedgerLine,
    OverheadPlan,
    PuePlan,
    RackPlan,
)
from coldaisle.plan.model.install import DiskPlan, EncryptionPlan, InstallPlan
from coldaisle.plan.model.links import End
from coldaisle.plan.model.nodes import (
    BmcPlan,
    BootProgramPlan,
    FirmwarePlan,
    GpuPlan,
    HallSourcesPlan,
    ImagePlan,
    NicPlan,
    NodePlan,
    OsPlan,
    PartsPlan,
    PciPlan,
    PoolPlan,
    PowerCapPlan,
    ProvisioningPlan,
    RdmaPlan,
)
from coldaisle.plan.model.overlay import (
    BondPlan,
    EvpnSessionPlan,
    ExitPlan,
    InterfacePlan,
    OverlayPlan,
    PortVlansPlan,
    TenantNetworkPlan,
    TenantPlan,
    VtepPlan,
    VtepVlanPlan,
)
from coldaisle.plan.model.power import NO_DRAWS, BankPlan, DrawsPlan, FeedPlan, PhasePlan, StartGroupPlan, UpstreamPlan
from coldaisle.plan.model.rollout import (
    AcceptancePlan,
    Amount,
    Domain,
    RolloutPlan,
    TelemetryPlan,
    WaveAcceptancePlan,
    WindowPlan,
)
from coldaisle.plan.model.site import SCHEMA_VERSION, Facts, PlayPlan, SitePlan
from coldaisle.plan.model.subnet import PartitionPlan, SubnetPlan
from coldaisle.plan.model.survival import LossKind, LossPlan

__all__ = [
    "NO_DRAWS",
    "SCHEMA_VERSION",
    "AcceptancePlan",
    "Amount",
    "AutoscalerPlan",
    "BankPlan",
    "BgpPlan",
    "BmcPlan",
    "BondPlan",
    "BootProgramPlan",
    "CablePlan",
    "ClusterPlan",
    "CoolingPlan",
    "DevicePlacement",
    "DiskPlan",
    "Domain",
    "DrawsPlan",
    "EncryptionPlan",
    "End",
    "EndpointPlan",
    "EvpnSessionPlan",
    "ExecutionNodePlan",
    "ExecutionPlan",
    "ExitPlan",
    "FabricPlan",
    "FacilityPlan",
    "Facts",
    "FeedPlan",
    "FirmwarePlan",
    "GpuPlan",
    "GpuStackPlan",
    "HallSourcesPlan",
    "ImagePlan",
    "InstallPlan",
    "InterfacePlan",
    "LedgerLine",
    "LossKind",
    "LossPlan",
    "NamespacePlan",
    "NicPlan",
    "NodePlan",
    "OsPlan",
    "OverheadPlan",
    "OverlayPlan",
    "PartitionPlan",
    "PartsPlan",
    "PciPlan",
    "PhasePlan",
    "PlayPlan",
    "PoolPlan",
    "PortPlan",
    "PortVlansPlan",
    "PowerCapPlan",
    "ProvisioningPlan",
    "PuePlan",
    "RackPlan",
    "RdmaPlan",
    "ReleasePlan",
    "RoceClassPlan",
    "RolloutPlan",
    "SitePlan",
    "StartGroupPlan",
    "SubnetPlan",
    "SwitchAccessPlan",
    "SwitchPlan",
    "TelemetryPlan",
    "TenantNetworkPlan",
    "TenantPlan",
    "UpstreamPlan",
    "VtepPlan",
    "VtepVlanPlan",
    "WaveAcceptancePlan",
    "WindowPlan",
]
