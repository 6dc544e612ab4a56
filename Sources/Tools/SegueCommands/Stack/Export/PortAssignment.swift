internal import ArgumentParser

/// `NAME=NUMBER`
struct PortAssignment: ExpressibleByArgument, Sendable {
    let name: String
    let port: Int

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = Int(parts[1]), (1...65_535).contains(port) else { return nil }
        name = String(parts[0])
        self.port = port
    }
}
