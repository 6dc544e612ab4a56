internal import BusProtocol
internal import EventBus
internal import Foundation
package import Logging
internal import SystemSupport
internal import ZeroMQ

/// Takes batches in, journals them, sends them on.
///
/// ROUTER for the ingress, where every request is answered; XPUB for the feed, which never waits for anybody: a subscriber
/// that falls behind misses messages there and reads them from the journal.
package actor Broker {
    private let configuration: BrokerConfiguration
    private let logger: Logger
    private let thread = SocketThread(name: "broker")
    private var sockets: BrokerSockets?
    private var engine: BrokerEngine?
    /// Keep a second broker away from what this one serves.
    private var locks: [FileLock] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ configuration: BrokerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    deinit {
        thread.stop()
    }

    /// Serves until the task is cancelled.
    /// - Parameter onReady: called once both sockets are bound and the journal is open.
    /// - Throws: ``BusError`` when the address or the journal cannot be used, or the journal can no longer be trusted.
    package func run(onReady: @Sendable () async throws -> Void = {}) async throws {
        let address = try BusAddress(configuration.address)
        defer { locks = [] }
        if let directory = address.directory { locks.append(try Self.lock(directory: directory)) }
        locks.append(try Self.lock(journal: configuration.journal))
        let journal = try Journal(path: configuration.journal, durability: configuration.durability)
        let now = ContinuousClock.now
        engine = try BrokerEngine(
            journal: journal, configuration: configuration, logger: logger, clock: BrokerClock(start: now), now: now)
        try open(address)
        defer { close() }
        logger.info("serving", metadata: ["bus": "\(address)", "journal": "\(configuration.journal)"])
        try await onReady()
        var nextTick = now + .seconds(1)
        while true {
            if prune() {
                // Sockets are looked at between two steps.
                await Task.yield()
                try Task.checkCancellation()
            } else {
                try await Task.sleep(until: nextTick, clock: .continuous)
            }
            guard ContinuousClock.now >= nextTick else { continue }
            nextTick = .now + .seconds(1)
            try tick()
        }
    }

    /// Locks a bus directory: libzmq's bind would unlink another broker's sockets without a word.
    /// - Parameter directory: made, for its owner only, when it is not there.
    private static func lock(directory: String) throws(BusError) -> FileLock {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BusError(.address, "the bus directory \(directory) cannot be made: \(error.localizedDescription)")
        }
        return try lock(
            "\(directory)/lock", .address,
            taken: "another broker serves ipc://\(directory): stop it or choose another address")
    }

    /// Locks a journal, whatever the address it is served at. The file beside it: to close the journal's own would end the
    /// locks that SQLite has on it.
    private static func lock(journal: String) throws(BusError) -> FileLock {
        let path = URL(fileURLWithPath: journal).resolvingSymlinksInPath().path
        return try lock(
            "\(path).lock", .journal,
            taken: "another broker serves the journal \(journal): stop it or choose another file")
    }

    private static func lock(_ path: String, _ code: BusError.Code, taken: String) throws(BusError) -> FileLock {
        do {
            if let lock = try FileLock.acquire(path) { return lock }
        } catch {
            throw BusError(code, "the lock \(path) cannot be opened: \(error.reason)")
        }
        throw BusError(code, taken)
    }

    private func open(_ address: BusAddress) throws {
        let sockets = try BrokerSockets(address)
        let watches = sockets.watches(
            onRequests: { [weak self] in self?.assumeIsolated { $0.takeRequests() } },
            onSubscriptions: { [weak self] in self?.assumeIsolated { $0.takeSubscriptions() } })
        for watch in watches { thread.add(watch) }
        self.sockets = sockets
    }

    private func close() {
        thread.removeAllWatches()
        sockets = nil
        engine = nil
    }

    private func takeRequests() {
        guard let sockets else { return }
        do {
            let incoming = try sockets.receiveRequests()
            guard let outgoing = engine?.handle(incoming, now: .now) else { return }
            send(outgoing, on: sockets)
            engine?.journal.prepare()
        } catch {
            logger.error("the ingress failed", metadata: ["error": "\(error)"])
        }
    }

    /// Answers on the inbox of a subscriber: everything it subscribed to before is live now.
    private func takeSubscriptions() {
        guard let sockets, let journal = engine?.journal else { return }
        do {
            let (inboxes, garbageCount) = try sockets.receiveInboxes()
            engine?.noteGarbage(garbageCount, "the feed got what is no subscription, or one that is too long")
            for inbox in inboxes {
                // Who gets no answer subscribes again.
                try journal.requireLoaded()
                try sockets.publish(Inbox.answer(topic: inbox, epoch: journal.epoch, head: journal.head))
            }
        } catch {
            logger.error("the feed failed", metadata: ["error": "\(error)"])
        }
    }

    private func tick() throws {
        guard let sockets, let outgoing = try engine?.tick(now: .now) else { return }
        send(outgoing, on: sockets)
    }

    /// - Returns: whether there is more to remove.
    private func prune() -> Bool {
        var outgoing = Outgoing()
        guard let sockets, let hasMore = engine?.prune(now: .now, &outgoing) else { return false }
        send(outgoing, on: sockets)
        return hasMore
    }

    private func send(_ outgoing: Outgoing, on sockets: BrokerSockets) {
        do {
            try sockets.publish(outgoing.feed)
        } catch {
            // Journalled is journalled: subscribers find it there.
            logger.error("the feed failed", metadata: ["error": "\(error)"])
        }
        for (peer, frames) in outgoing.frames {
            sockets.send(frames, to: peer)
        }
    }
}

/// The time of day that goes on evenly: a wall clock that is set while the broker runs must not age the journal, and one that
/// was set back before it started must not make its times go backwards.
package struct BrokerClock {
    private let start: ContinuousClock.Instant
    private let wall: Double

    /// - Parameter wall: what the wall clock says at `start`, in milliseconds since 1970, with their fraction: whole ones
    ///   would make every time too early.
    package init(start: ContinuousClock.Instant, wall: Double = Date().timeIntervalSince1970 * 1000) {
        self.start = start
        self.wall = wall
    }

    /// The same clock, put forward if it is behind a time.
    func notBefore(_ time: Int64, at instant: ContinuousClock.Instant) -> BrokerClock {
        self.time(at: instant) < time ? BrokerClock(start: instant, wall: Double(time)) : self
    }

    /// Milliseconds since 1970.
    func time(at instant: ContinuousClock.Instant) -> Int64 {
        Int64(wall + (instant - start) / .milliseconds(1))
    }
}
