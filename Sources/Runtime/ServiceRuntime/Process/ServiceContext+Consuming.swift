public import Consuming

extension MessageConsumer {
    /// A consumer of a running process.
    public init(_ consumer: String, in process: ServiceContext) {
        self.init(consumer, bus: process.bus, logger: process.logger, metrics: process.metrics)
    }
}

extension QueryServer {
    /// A server of a running process.
    public init(in process: ServiceContext) {
        self.init(bus: process.bus, logger: process.logger)
    }
}

extension ScreenWork {
    /// The work of a running process.
    public init(_ consumer: String, in process: ServiceContext) {
        self.init(consumer, bus: process.bus, logger: process.logger, metrics: process.metrics)
    }
}
