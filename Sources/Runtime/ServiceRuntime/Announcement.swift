internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Support

/// Announces a process on the bus: it publishes the presence and the contract of the process once, before its services
/// are ready. Both documents are leased, so the bus withdraws them when the process has ended.
struct Announcement: Service {
    let context: ServiceContext
    let ready: [Latch]
    let clock: any Clock<Duration>
    /// Opened when the process is announced and all its services are ready.
    let announced = Latch()

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await context.waitingForBus(clock: clock) { try await publish() }
            for latch in ready { try await latch.waitUntilOpen() }
        }
        context.logger.info("ready", metadata: ["bus": "\(context.busAddress)", "source": "\(context.bus.source)"])
        announced.open()
        try await gracefulShutdown()
    }

    private func publish() async throws {
        let presence = try Envelope(context.presence, source: context.bus.source)
        do {
            let contract = try contract.map { try Envelope($0, source: context.bus.source) }
            try await context.bus.publish(Batch([presence] + (contract.map { [$0] } ?? []), isLeased: true))
        } catch let error as BusError where error.code == .forbidden {
            // A device announces only that it is there.
            try await context.bus.publish(Batch([presence], isLeased: true))
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
}

extension ServiceContext {
    fileprivate var presence: Document.Presence {
        Document.Presence(
            name: process.name, version: process.version, instance: process.instance,
            pid: ProcessInfo.processInfo.processIdentifier,
            receives: process.receives.map(\.type.description), sends: process.sends.map(\.type.description),
            consumers: process.consumers)
    }
}
