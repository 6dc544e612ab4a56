internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import ServiceLifecycle

/// Makes a process known: to the bus by its presence, to the supervisor once its services are ready.
///
/// The presence is leased: it goes with the process, however that ends.
struct Announcement: Service {
    let context: ServiceContext
    let ready: [ReadySignal]
    let notifier: ServiceNotifier
    let clock: any Clock<Duration>

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await announce() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // Asked to stop before all was ready, perhaps because the bus never came up: the lease does the rest.
            return
        }
        try await gracefulShutdown()
        try await withdraw()
    }

    private func announce() async throws {
        let presence = try Envelope(context.presence, source: context.bus.source)
        try await context.waitingForBus(clock: clock) {
            try await context.bus.publish(Batch([presence], isLeased: true))
        }
        for signal in ready { try await signal.wait() }
        context.logger.info("ready", metadata: ["bus": "\(context.busAddress)", "source": "\(context.bus.source)"])
        notifier.notify(.ready)
    }

    /// Says good-bye at once; a bus that nobody serves is no reason to fail while stopping, since the lease ends anyway.
    private func withdraw() async throws {
        var tombstone = try Envelope(context.presence, source: context.bus.source)
        tombstone.data = Data()
        do {
            try await context.bus.publish(Batch([tombstone]))
        } catch let error as BusError {
            context.logger.debug("the presence was not withdrawn: \(error)")
        }
    }
}

extension ServiceContext {
    fileprivate var presence: Document.Presence {
        Document.Presence(
            name: process.name, version: process.version, instance: process.instance,
            pid: ProcessInfo.processInfo.processIdentifier,
            receives: process.receives.map(\.description), sends: process.sends.map(\.description))
    }
}
