import NATSEventBus
import Testing
