internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import SystemSupport

/// Makes a process known: to the bus by its presence and its contract, to the supervisor once its services are ready.
///
/// Both are leased: they go with the bus, however that ends. The presence is published again when the figures in it have changed.
/// When the bus has lost them, because the process was stopped for longer than the lease or the journal is a new one, the bus's
/// client publishes them again.
struct Announcement: Service {
    /// How often the presence is looked at. While a process has nothing to do, it publishes nothing.
    static let interval: Duration = .seconds(2)

    let context: ServiceContext
    let ready: [ReadySignal]
    let notifier: Notifier
    let clock: any Clock<Duration>

    func run() async throws {
        let announced: Document.Presence
        do {
            announced = try await cancelWhenGracefulShutdown { try await announce() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // Asked to stop before all was ready, perhaps because the bus never came up: the lease does the rest.
            return
        }
        do {
            try await cancelWhenGracefulShutdown { try await keepAnnounced(announced) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // The bus takes the presence along when it closes, without waiting for a broker that is away.
        }
    }

    private func announce() async throws -> Document.Presence {
        let presence = context.presence(lag: 0)
        try await context.waitingForBus(clock: clock) { try await publish(presence, contract) }
        for signal in ready { try await signal.wait() }
        // A client that waits until the process is ready finds its consumers in its presence.
        let begun = context.presence(lag: 0)
        let isComplete = presence.consumers == begun.consumers
        if !isComplete {
            try await context.waitingForBus(clock: clock) { try await publish(begun, nil) }
        }
        context.logger.info("ready", metadata: ["bus": "\(context.busAddress)", "source": "\(context.bus.source)"])
        notifier.notify(.ready)
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
                context.logger.debug("the presence was not brought up to date: \(error)")
            }
        }
    }

    /// What cannot be told keeps nobody from working: `--contract` names it, and so does a test.
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
