internal import Compose
package import EventBus
internal import Foundation
internal import TestSupport
internal import Testing
internal import Transports

/// An engine of the bus, for tests that have the same result with all engines.
package enum BusEngine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// The broker of this project.
    case broker
    /// A server of NATS, with the broker as its steward.
    case nats

    package var testDescription: String { rawValue }

    /// A compose file with a bus of this engine.
    /// - Parameter services: Further services, in lines that begin with two spaces.
    package func composeFile(name: String = "demo", services: String = "") -> String {
        switch self {
        case .broker:
            """
            name: \(name)
            services:
              broker: { command: broker, healthcheck: { test: [NOTIFY] } }
            \(services)
            """
        case .nats:
            """
            name: \(name)
            x-ports: [nats, nats-http]
            x-bus: nats://127.0.0.1:${SEGUE_PORT_NATS}
            services:
              nats:
                command: >
                  \(Repository.path(".build/nats-server")) -c \(Repository.path("config/nats.conf")) -a 127.0.0.1 -p ${SEGUE_PORT_NATS}
                  -m ${SEGUE_PORT_NATS_HTTP} -sd ${SEGUE_STATE_DIR}/nats
                healthcheck:
                  test: [HTTP, "http://127.0.0.1:${SEGUE_PORT_NATS_HTTP}/healthz"]
                  start_period: 30s
                  start_interval: 50ms
              broker:
                command: broker
                healthcheck: { test: [NOTIFY], start_period: 30s }
                depends_on: { nats: { condition: service_healthy } }
            \(services)
            """
        }
    }
}

extension SegueCommandLine {
    /// Runs `body` while a bus of this engine is up.
    package static func onBus(
        _ engine: BusEngine = .broker, _ body: (SegueCommandLine) async throws -> Void
    ) async throws {
        try await inScratch { segue in
            try segue.write(engine.composeFile())
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            try await body(segue)
        }
    }

    /// The address of the bus of the only project that is up.
    package var bus: String {
        get throws {
            let projects = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/state/segue")
            guard let name = projects.first, projects.count == 1 else {
                throw BusError(.address, "one project should be up, not \(projects)")
            }
            return try Project(
                name: name, stateRoot: "\(directory)/state/segue", runtimeRoot: "\(directory)/run/segue"
            ).busAddress
        }
    }

    /// Runs `body` with a connection of the test to the bus of the only project that is up.
    package func withConnection<Result: Sendable>(
        _ body: @escaping @Sendable (EventBus) async throws -> Result
    ) async throws -> Result {
        let bus = try BusFactory.standard.bus(
            at: bus, source: "test/1", logger: .silent)
        return try await bus.whileOpen { try await body(bus) }
    }

    /// The offset of each recorded message, in order. The offsets of the broker's messages are 1, 2, 3; those on NATS
    /// are not.
    package var offsets: [UInt64] {
        get async throws {
            try await withConnection { bus in
                let end = try await bus.inspect.end()
                return try await bus.withSubscription(to: [.all], from: .beginning, until: end, onNotice: nil) {
                    try await $0.reduce(into: []) { $0.append($1.position?.offset ?? 0) }
                }
            }
        }
    }
}
