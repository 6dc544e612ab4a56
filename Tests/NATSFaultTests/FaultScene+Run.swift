import BusChecker
import BusSoak
import NATSTestSupport
import Testing

extension FaultScene {
    /// The publisher's pause in milliseconds: a scene may last minutes, and at the end the consumers handle everything.
    static let pause = 10

    /// Runs `fault` while all processes work, and expects that nothing acknowledged is lost, doubled or out of order.
    /// - Parameters:
    ///   - extra: The names of further publishers that `fault` starts with ``startPublisher(_:on:)``.
    ///   - fault: Returns when the processes work again; what may be lost is nil for nothing.
    static func runLosing(
        on cluster: @autoclosure () throws -> NATSCluster = try NATSCluster(), extra: [String] = [],
        _ fault: @escaping @Sendable (FaultScene) async throws -> LostEnd?
    ) async throws {
        try await Arena.with(try cluster()) { arena in
            let scene = try await FaultScene(in: arena, pause: pause)
            let lostEnd = try await fault(scene)
            var history = try await scene.finish(extra)
            history.lostEnd = lostEnd
            let findings = Checker.findings(in: history)
            if !findings.isEmpty {
                Issue.record("\(findings.count) findings: \(findings.prefix(20))\n\(arena.failure(""))")
            }
            #expect(history.acknowledged.count > 100)
        }
    }

    /// Runs a fault that loses nothing.
    static func run(
        on cluster: @autoclosure () throws -> NATSCluster = try NATSCluster(), extra: [String] = [],
        _ fault: @escaping @Sendable (FaultScene) async throws -> Void
    ) async throws {
        try await runLosing(on: try cluster(), extra: extra) { scene in
            try await fault(scene)
            return nil
        }
    }

    /// Damages the disks of servers: the short form of the soak's rounds.
    static func run(_ damage: ServerDamage, on cluster: NATSCluster? = nil) async throws {
        try await runLosing(on: try cluster ?? NATSCluster(diskSize: damage.diskSize), damage.befall)
    }

    /// The steward that leads at the beginning.
    var leadingSteward: ChildProcess { stewards[0] }

    /// The other one.
    var following: ChildProcess { stewards[1] }
}
