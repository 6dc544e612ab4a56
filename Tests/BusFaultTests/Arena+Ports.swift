import BusSoak

extension Arena {
    /// Starts a broker that listens on a port of this machine, and on the one behind it.
    /// - Returns: the port. The broker itself finds out whether it is free: to look before would be a race.
    func startTCPBroker() async throws -> Int {
        for attempt in 1...50 {
            // Below those that the kernel gives to connections.
            let port = Int.random(in: 10_000..<32_000)
            let name = "broker-\(attempt)"
            _ = try await start(
                name, ["broker", "--bus", "tcp://127.0.0.1:\(port)", "--journal", journal])
            try await untilLog(of: name, "says whether it serves") {
                $0.contains("serving") || $0.contains("cannot listen")
            }
            if log(of: name).contains("serving") { return port }
        }
        throw NoPort()
    }

    struct NoPort: Error {}
}
