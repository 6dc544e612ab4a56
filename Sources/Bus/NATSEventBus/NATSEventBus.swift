internal import EventBus
internal import NATS
internal import NATSLayout

/// An event bus on NATS JetStream.
enum NATSEventBusPlaceholder {}
