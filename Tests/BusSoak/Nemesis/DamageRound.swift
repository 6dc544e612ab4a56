internal import BusChecker
internal import NATSTestSupport
internal import TestSupport

/// A round in which disks are damaged while processes publish, read and consume: that of the broker, or those of three
/// servers of NATS.
package struct DamageRound: Sendable {
    private enum Damage {
        case broker(BrokerDamage)
        case servers(ServerDamage)
    }

    private let engine: Engine
    private let seed: UInt64
    private let damage: Damage
    /// The number of batches that are under way at any time, also when the broker or the servers are killed.
    private let batches: Int
    private let stopsPublisher: Bool

    /// A round with random damage.
    package init(engine: Engine, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.engine = engine
        self.seed = seed
        let isShort: Bool
        switch engine {
        case .zeroMQ:
            damage = .broker(BrokerDamage.possible.randomElement(using: &random) ?? .loss(.log))
            isShort = true
        case .nats:
            let servers = ServerDamage.possible.randomElement(using: &random) ?? .bit
            (damage, isShort) = (.servers(servers), servers.isShort)
        }
        batches = Bool.random(using: &random) && isShort ? 1024 : 4
        stopsPublisher = Bool.random(using: &random)
    }

    /// A round on a broker, with few batches.
    package init(seed: UInt64, _ damage: BrokerDamage) {
        var random = SeededGenerator(seed: seed)
        (engine, self.seed, self.damage, batches) = (.zeroMQ, seed, .broker(damage), 4)
        stopsPublisher = Bool.random(using: &random)
    }

    /// Runs the round. Errors of the bus are in the report and are not thrown.
    package func run() async throws -> SoakReport {
        do {
            switch damage {
            case .broker(let damage):
                return try await Arena.with { arena in
                    let scene = BrokerDamageScene(
                        arena: arena, batches: batches, stopsPublisher: stopsPublisher, seed: seed)
                    let (history, findings) = try await scene.run(damage)
                    return report(history, findings, in: arena)
                }
            case .servers(let damage):
                return try await Arena.with(try NATSCluster(diskSize: damage.diskSize)) { arena in
                    let scene = try await FaultScene(in: arena, batches: batches)
                    let lostEnd = try await damage.befall(scene)
                    var history = try await scene.finish()
                    history.lostEnd = lostEnd
                    return report(history, in: arena)
                }
            }
        } catch let failure as ArenaFailure {
            var report = emptyReport
            (report.findings, report.logs) = ([failure.reason], failure.logs)
            return report
        }
    }

    private var emptyReport: SoakReport {
        let name =
            switch damage {
            case .broker(let damage): "\(damage)"
            case .servers(let damage): "\(damage)"
            }
        return SoakReport(engine: engine, seed: seed, shape: .damage, fault: "\(name), \(batches) batches under way")
    }

    private func report(_ history: History, _ findings: [String] = [], in arena: Arena) -> SoakReport {
        var report = emptyReport
        report.apply(history)
        report.findings = findings + Checker.findings(in: history).map(\.description)
        report.logs = report.findings.isEmpty ? "" : arena.failure("").logs
        return report
    }
}
