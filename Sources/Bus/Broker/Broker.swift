internal import BusKeys
internal import BusProtocol
internal import EventBus
internal import Foundation
package import Logging
internal import SystemSupport
internal import ZeroMQ

/// Receives requests, records batches in the journal unless they are transient, and publishes their messages on the
/// feed.
///
/// The ingress is a ROUTER socket, which receives requests and sends replies. The feed is an XPUB socket and never
/// waits for a subscriber: a slow subscriber misses messages on the feed.
package actor Broker {
    private let configuration: BrokerConfiguration
    private let logger: Logger
    private let thread = ExecutorThread(name: "broker")
    private var sockets: BrokerSockets?
    private var engine: BrokerEngine?
    /// The keys of the bus; nil for a bus without keys.
    private var keys: BrokerKeys?
    /// The watches of the sockets. Empty while these are being renewed.
    private var watches: [SocketWatch] = []
    /// The requests that were received and not handled yet.
    private var turns: RequestTurns
    private var isTurnScheduled = false
    private let auditLog: AuditLog
    /// The time at which refusals of each kind were last published as an error.
    private var lastAccessNotices: [AuditLog.Entry.Event: ContinuousClock.Instant] = [:]

    /// The number of descriptors beyond which more connections would only cost memory.
    static let descriptorLimit = 16_384
    /// The number of libzmq's threads, between which it divides the connections: those of a flood delay only a part of
    /// the others.
    private static let threadCount = 4

    /// Prepares a process for many connections. Must be called before the first socket of the process.
    package static func prepareProcess() {
        DescriptorLimit.raise(to: descriptorLimit)
        Context.shared.setThreadCount(threadCount)
    }

    /// The maximum number of turns in which subscriptions are checked before messages are sent.
    private static let subscriptionTurns = 32
    /// The minimum time between two errors about refusals of one kind.
    private static let accessNoticeInterval: Duration = .seconds(60)
    /// The time between two looks at the memory of the process, and the growth in bytes after which the connections are
    /// checked.
    private static let (memoryInterval, memoryGrowth) = (Duration.milliseconds(20), 16 << 20)
    /// The locks that keep a second broker from serving the same bus directory or journal.
    private var locks: [FileLock] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ configuration: BrokerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        turns = RequestTurns(configuration.userLimits, hasKeys: configuration.keys != nil)
        let folder = URL(fileURLWithPath: configuration.journal).deletingLastPathComponent()
        auditLog = AuditLog(path: folder.appendingPathComponent("audit.log").path)
    }

    deinit {
        thread.stop()
    }

    /// Serves until the task is cancelled.
    /// - Parameter onReady: Called once both sockets are bound and the journal is open.
    /// - Throws: ``BusError`` if the address or the journal cannot be used, or if the journal is found damaged or is no
    ///   longer at its path.
    package func run(onReady: @Sendable () async throws -> Void = {}) async throws {
        let address = try BusAddress(configuration.address)
        try address.checkProtection(hasKeys: configuration.keys != nil, isInsecure: configuration.isInsecure)
        defer { locks = [] }
        if let directory = address.directory { locks.append(try Self.lock(directory: directory)) }
        locks.append(try Self.lock(journal: configuration.journal))
        let journal = try Journal(
            path: configuration.journal, durability: configuration.durability, limits: configuration.userLimits)
        let now = ContinuousClock.now
        engine = try BrokerEngine(
            journal: journal, configuration: configuration, logger: logger, clock: BrokerClock(start: now), now: now)
        let keys = try configuration.keys.map { folder throws(BusError) in try BrokerKeys(folder) }
        // Before the broker listens: a flood must not prevent the watch.
        let keysWatch = try keys.map { try DirectoryWatch(path: $0.path) }
        if let keys {
            try await Authenticator.shared.register(keys.domain) { keys.decide(about: $0) }
            try await Authenticator.shared.register(keys.feedDomain) { keys.decide(about: $0, ofFeed: true) }
        }
        do {
            try open(address, keys)
            defer { close() }
            logger.info("serving", metadata: ["bus": "\(address)", "journal": "\(configuration.journal)"])
            if let warning = address.warning(hasKeys: keys != nil) { logger.warning("\(warning)") }
            try await onReady()
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                if let keysWatch { group.addTask { try await self.watchKeys(keysWatch) } }
                if address.directory == nil { group.addTask { try await self.watchMemory() } }
                group.addTask { try await self.serve(since: now) }
                try await group.next()
            }
        } catch {
            if let keys {
                for domain in [keys.domain, keys.feedDomain] { await Authenticator.shared.unregister(domain) }
            }
            throw error
        }
    }

    private func serve(since start: ContinuousClock.Instant) async throws {
        var nextTick = start + .seconds(1)
        while true {
            if prune() {
                // Between two steps of retention the broker handles its sockets.
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

    /// Locks a bus directory.
    /// - Parameter directory: Created with mode 0700 if it does not exist. Refused if other users can enter it.
    private static func lock(directory: String) throws(BusError) -> FileLock {
        do {
            try PrivateFolder.make(directory)
        } catch {
            throw BusError(.address, "the bus directory cannot be used: \(error)")
        }
        return try lock(
            "\(directory)/lock", .address,
            taken: "another broker serves ipc://\(directory); stop it or choose another address")
    }

    /// Locks a journal against a second broker, which may use another address. The lock is a separate file next to the
    /// journal.
    private static func lock(journal: String) throws(BusError) -> FileLock {
        let path = URL(fileURLWithPath: journal).resolvingSymlinksInPath().path
        return try lock(
            "\(path).lock", .journal,
            taken: "another broker serves the journal \(journal); stop it or choose another file")
    }

    private static func lock(_ path: String, _ code: BusError.Code, taken: String) throws(BusError) -> FileLock {
        do {
            if let lock = try FileLock.acquire(path) { return lock }
        } catch {
            throw BusError(code, "the lock \(path) cannot be opened: \(error.reason)")
        }
        throw BusError(code, taken)
    }

    private func open(_ address: BusAddress, _ keys: BrokerKeys?) throws {
        let sockets = try BrokerSockets(
            address, keys: keys, connectionLimit: configuration.connectionLimit, configuration.userLimits)
        (self.sockets, self.keys) = (sockets, keys)
        _ = engine?.accept(keys?.nextUsers(at: Date()), now: .now)
        watch(sockets)
    }

    private func watch(_ sockets: BrokerSockets) {
        watches = sockets.socketWatches { [weak self] in
            self?.assumeIsolated { $0.handleRequests() }
        } onSubscriptions: { [weak self] in
            self?.assumeIsolated { _ = $0.handleSubscriptions() }
        }
        watches.forEach(thread.add)
    }

    private func close() {
        thread.removeAllWatches()
        watches = []
        sockets = nil
        engine = nil
    }

    // MARK: Keys

    /// Applies changes of the list of keys as soon as the folder reports them. ``tick()`` does the same once a second, in
    /// case another folder has taken the place of this one.
    private func watchKeys(_ watch: DirectoryWatch) async throws {
        while true {
            _ = await watch.wait()
            try Task.checkCancellation()
            applyKeys()
        }
    }

    /// Reads the list of keys, and ends what the owners of keys that are no longer accepted have on the bus.
    private func applyKeys() {
        guard let keys, let sockets else { return }
        do {
            try keys.refresh()
        } catch {
            engine?.say(BusNotice(.keysUnreadable, "\(error); the broker accepts the keys that it has read before"))
        }
        guard let users = keys.nextUsers(at: Date()), let before = engine?.acceptedUsers else { return }
        // New keys need no new sockets. These are renewed first, so that users that have lost rights do not get what
        // follows.
        if before.contains(where: { users[$0.key] != $0.value.rights }) { renewSockets() }
        if let outgoing = engine?.accept(users, now: .now) { send(outgoing, on: sockets) }
    }

    /// Closes all connections. Clients connect again, those with an accepted key successfully, send their unanswered
    /// requests again, and read from the journal what they have missed. Transient messages of this moment are lost.
    private func renewSockets() {
        guard let sockets else { return }
        watches.forEach(thread.remove)
        watches = []
        sockets.close()
        // Clients send their requests again over new connections.
        turns = RequestTurns(configuration.userLimits, hasKeys: keys != nil)
        engine?.loseConnections()
        reopenSockets(attempt: 1)
    }

    /// - Parameter attempt: libzmq usually frees the endpoints within milliseconds. After a second, another program has
    ///   taken one, and the broker tries again each second.
    private func reopenSockets(attempt: Int) {
        guard let sockets else { return }
        let isPatient = attempt < 500
        do {
            if try sockets.reopen() { return watch(sockets) }
            if !isPatient { logger.error("the sockets cannot be opened: another program uses their endpoints") }
        } catch {
            logger.error("the sockets cannot be opened", metadata: ["error": "\(error)"])
        }
        thread.perform(after: isPatient ? .milliseconds(2) : .seconds(1)) { [weak self] in
            self?.assumeIsolated { $0.reopenSockets(attempt: attempt + 1) }
        }
    }

    /// Records the connections and requests that were refused since the last call. Called once a second, so an attacker
    /// cannot fill the log.
    private func reportRefusals() {
        if let refused = keys?.drainRefusals(), refused.count > 0 {
            report(
                AuditLog.Entry(
                    time: Date(), event: .connectionRefused, count: refused.count, address: refused.address,
                    reason: refused.reason),
                "connections were refused (\(refused.count), the last one from \(refused.address)): \(refused.reason)")
        }
        if let sockets, case let ended = sockets.drainEndedConnections(), ended.count > 0 {
            report(
                AuditLog.Entry(
                    time: Date(), event: .connectionEnded, count: ended.count, address: ended.address,
                    reason: ended.reason),
                "connections were ended (\(ended.count), the last one from \(ended.address)): \(ended.reason)")
        }
        let refused = engine?.drainRefusals()
        if let denied = refused?.denied {
            report(denied, as: .requestRefused, "the key \(denied.user) is revoked or expired")
        }
        if let forbidden = refused?.forbidden { report(forbidden, as: .requestForbidden, forbidden.reason) }
    }

    private func report(_ refused: RefusedRequests.Refusal, as event: AuditLog.Entry.Event, _ reason: String) {
        report(
            AuditLog.Entry(time: Date(), event: event, count: refused.count, reason: reason),
            "requests were refused (\(refused.count)): \(reason)")
    }

    /// - Parameter line: The entry for people.
    private func report(_ entry: AuditLog.Entry, _ line: String) {
        logger.warning("\(line)")
        if lastAccessNotices[entry.event].map({ .now - $0 >= Self.accessNoticeInterval }) ?? true {
            lastAccessNotices[entry.event] = .now
            // Devices can read the broker's errors, so these do not name others.
            engine?.say(
                BusNotice(
                    .accessRefused,
                    "connections or requests were refused (\(entry.event.rawValue)); see the broker's log, or "
                        + "\(keys == nil ? "its limits" : "audit.log beside the journal")"))
        }
        guard keys != nil else { return }
        do {
            try auditLog.append(entry)
        } catch {
            logger.error("the audit log cannot be written", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Messages

    /// Receives requests, and answers those of one turn.
    private func handleRequests() {
        guard let sockets else { return }
        defer { if !turns.isEmpty { scheduleTurn() } }
        do {
            try sockets.receiveRequests(&turns)
            let turn = turns.next()
            let requests = turn.requests.filter { !sockets.isUnread($0) }
            guard let outgoing = engine?.handle(requests, isShared: turn.isShared, now: .now) else { return }
            send(outgoing, on: sockets)
            if turns.isEmpty { engine?.journal.prepare() } else { _ = handleSubscriptions() }
        } catch {
            logger.error("handling requests failed", metadata: ["error": "\(error)"])
        }
    }

    /// Continues with the requests that wait, after what else the thread has to do.
    private func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        thread.perform { [weak self] in
            self?.assumeIsolated {
                $0.isTurnScheduled = false
                $0.handleRequests()
            }
        }
    }

    /// Checks subscriptions, and answers on the inboxes of subscribers. The answer tells a subscriber that its earlier
    /// subscriptions are live.
    /// - Returns: False if there may be more.
    private func handleSubscriptions() -> Bool {
        guard let sockets, let journal = engine?.journal else { return true }
        do {
            let (new, garbageCount, hasMore) = try sockets.receiveSubscriptions()
            engine?.recordGarbage(garbageCount, "the feed received a subscription that is invalid or too long")
            let refused = new.filter { engine?.allowsSubscription(to: $0.topic, by: $0.user) == false }
            if !refused.isEmpty {
                // The connections end at once, so that nothing is sent to these users. Over IPC, libzmq does not say which
                // connections they are, so all end.
                keys?.excludeFromFeed(Set(refused.compactMap(\.user)))
                if !sockets.end(refused) {
                    renewSockets()
                    return true
                }
            }
            let accepted = new.filter { subscription in !refused.contains { $0.user == subscription.user } }
            for inbox in accepted.map(\.topic) where inbox.starts(with: Inbox.mark.utf8) {
                // A subscriber that gets no answer subscribes again.
                try journal.requireLoaded()
                try sockets.publish(Inbox.answer(topic: inbox, epoch: journal.epoch, head: journal.head))
            }
            return !hasMore
        } catch {
            logger.error("handling subscriptions failed", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Checks all subscriptions that have arrived.
    /// - Returns: False if there are too many: then nobody may get messages yet, because libzmq sends to unchecked
    ///   subscriptions, too.
    private func checkSubscriptions() -> Bool {
        keys == nil || (0..<Self.subscriptionTurns).contains { _ in handleSubscriptions() }
    }

    /// Checks the connections as soon as the process grows. libzmq keeps a message until its last frame has come, and one
    /// without end can bring gigabytes between two ticks.
    private func watchMemory() async throws {
        var known = ProcessMemory.peak
        while true {
            try await Task.sleep(for: Self.memoryInterval)
            let peak = ProcessMemory.peak
            guard peak > known + Self.memoryGrowth else { continue }
            known = peak
            endEndlessMessages()
        }
    }

    /// Also works while nobody sends another message.
    private func endEndlessMessages() {
        sockets?.checkConnections()
        handleRequests()
        _ = handleSubscriptions()
    }

    private func tick() throws {
        reportRefusals()
        applyKeys()
        turns.forgetOverflown()
        endEndlessMessages()
        guard let sockets, let outgoing = try engine?.tick(now: .now) else { return }
        send(outgoing, on: sockets)
    }

    /// Does one step of retention.
    /// - Returns: True if there is more to remove.
    private func prune() -> Bool {
        var outgoing = Outgoing()
        guard let sockets, let hasMore = engine?.prune(now: .now, into: &outgoing) else { return false }
        send(outgoing, on: sockets)
        return hasMore
    }

    private func send(_ outgoing: Outgoing, on sockets: BrokerSockets) {
        do {
            if !outgoing.feed.isEmpty, checkSubscriptions() { try sockets.publish(outgoing.feed) }
        } catch {
            // Recorded messages are not lost: subscribers read them from the journal.
            logger.error("publishing on the feed failed", metadata: ["error": "\(error)"])
        }
        sockets.send(outgoing.frames)
    }
}

/// A clock with the time of day that advances steadily, even if the wall clock is set while the broker runs.
package struct BrokerClock {
    private let start: ContinuousClock.Instant
    private let wall: Double

    /// - Parameter wall: The time of the wall clock at `start`, in milliseconds since 1970.
    package init(start: ContinuousClock.Instant, wall: Double = Date().timeIntervalSince1970 * 1000) {
        self.start = start
        self.wall = wall
    }

    /// Returns this clock, or a clock that is set forward to `time` if this one has an earlier time.
    func notBefore(_ time: Int64, at instant: ContinuousClock.Instant) -> BrokerClock {
        self.time(at: instant) < time ? BrokerClock(start: instant, wall: Double(time)) : self
    }

    /// The time in milliseconds since 1970.
    func time(at instant: ContinuousClock.Instant) -> Int64 {
        Int64(wall + (instant - start) / .milliseconds(1))
    }
}
