internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import ServiceLifecycle

/// Announces a process on the bus: it publishes the presence and the contract of the process.
///
/// Both documents are leased. The presence is published again when its figures have changed.
struct Announcement: Service {
    /// The interval at which the presence is compared with the published one. A presence that has not changed is not
    /// published again.
    static let interval: Duration = .seconds(2)

    let context: ServiceContext
    let ready: [ReadySignal]
    let clock: any Clock<Duration>
    /// Signalled when all services of the process are ready, and the presence lists their consumers.
    let announced = ReadySignal()

    func run() async throws {
        let announced: Document.Presence
        do {
            announced = try await cancelWhenGracefulShutdown { try await announce() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // The process was asked to stop before it was ready.
            return
        }
        do {
            try await cancelWhenGracefulShutdown { try await keepAnnounced(announced) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // The process was asked to stop.
        }
    }

    private func announce() async throws -> Document.Presence {
        let presence = context.presence(lag: 0)
        try await context.waitingForBus(clock: clock) { try await publish(presence, contract) }
        for signal in ready { try await signal.wait() }
        // The consumers have started. They are added to the presence before the process counts as ready.
        let begun = context.presence(lag: 0)
        let isComplete = presence.consumers == begun.consumers
        if !isComplete {
            try await context.waitingForBus(clock: clock) { try await publish(begun, nil) }
        }
        context.logger.info("ready", metadata: ["bus": "\(context.busAddress)", "source": "\(context.bus.source)"])
        announced.signal()
        return isComplete ? presence : begun
    }

    private func keepAnnounced(_ announced: Document.Presence) async throws {
        var announced = announced
        while true {
            try await clock.sleep(for: Self.interval)
            do {
                let presence = context.presence(lag: try await context.metrics.lag(on: context.bus))
                if presence == announced { continue }
                try await publish(presence, nil)
                announced = presence
            } catch let error as BusError where error.code != .closed {
                context.logger.debug("the presence could not be updated: \(error)")
            }
        }
    }

    /// The contract. Nil if the schema of a message cannot be derived: the process then publishes no contract.
    private var contract: Document.ServiceContract? {
        do {
            return try context.process.contract(instance: context.process.instance)
        } catch {
            context.logger.warning("the contract is not published: \(error)")
            return nil
        }
    }

    private func publish(_ presence: Document.Presence, _ contract: Document.ServiceContract?) async throws {
        var messages = [try Envelope(presence, source: context.bus.source)]
        if let contract { messages.append(try Envelope(contract, source: context.bus.source)) }
        try await context.bus.publish(Batch(messages, isLeased: true))
    }
}

extension ServiceContext {
    fileprivate func presence(lag: UInt64) -> Document.Presence {
        Document.Presence(
            name: process.name, version: process.version, instance: process.instance,
            pid: ProcessInfo.processInfo.processIdentifier,
            receives: process.receives.map(\.type.description), sends: process.sends.map(\.type.description),
            handled: metrics.handled, failed: metrics.failed, lag: lag,
            consumers: metrics.consumers)
    }
}
