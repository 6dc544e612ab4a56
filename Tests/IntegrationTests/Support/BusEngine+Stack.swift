import CommandLineTestSupport
import SegueTestSupport
import TestSupport

extension BusEngine {
    /// The engine of a ``TestStack``.
    var ofStack: TestEngine {
        switch self {
        case .broker: .broker
        case .nats: .nats(server: Repository.path(".build/nats-server"))
        }
    }
}
