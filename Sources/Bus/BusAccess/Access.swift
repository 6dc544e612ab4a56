internal import BusKeys
package import EventBus

/// What services and devices may do on a bus, as the file `access.json` has it.
package struct Access: Hashable, Sendable {
    /// What the owners of keys with the role service may do, by their names.
    package let services: [String: AccessEntry]
    /// What each device may do in its session.
    package let devices: AccessEntry

    package init(services: [String: AccessEntry], devices: AccessEntry = AccessEntry()) {
        self.services = services
        self.devices = devices
    }

    /// The access that follows from what the programs of an app declare.
    ///
    /// A device may read all documents of its session, other than those that services keep for themselves, because the
    /// screens of a flow can show any document.
    package init(of programs: [DeclaredProgram]) {
        // The broker has no client's key: it does not ask itself.
        let programs = programs.filter { $0.name != KeyFile.brokerName }
        var devices = AccessEntry()
        for program in programs where program.isDevice { devices.formUnion(program.access) }
        if programs.contains(where: \.isDevice) {
            devices.reads.formUnion(
                programs.flatMap(\.sends).filter {
                    $0.kind == .document && !PlatformAccess.internalDocuments.contains($0)
                })
        }
        devices.claims = []
        devices.serves = []
        self.init(
            services: Dictionary(programs.map { ($0.name, $0.access) }) { $0.union($1) }, devices: devices)
    }
}

/// The rights of a service, or of all devices, besides those that every process has (``PlatformAccess``).
package struct AccessEntry: Hashable, Sendable {
    /// The types that it may publish.
    package var publishes: Set<MessageType> = []
    /// The types that it may subscribe to, and read from the journal.
    package var reads: Set<MessageType> = []
    /// The durable consumers that it may claim, and whose dead letters it may read and settle.
    package var claims: Set<String> = []
    /// The queries that it may serve.
    package var serves: Set<MessageType> = []
    /// The queries that it may ask.
    package var asks: Set<MessageType> = []

    package init() {}

    mutating func formUnion(_ other: AccessEntry) {
        publishes.formUnion(other.publishes)
        reads.formUnion(other.reads)
        claims.formUnion(other.claims)
        serves.formUnion(other.serves)
        asks.formUnion(other.asks)
    }

    func union(_ other: AccessEntry) -> AccessEntry {
        var union = self
        union.formUnion(other)
        return union
    }
}

/// A program of an app with the messages that it declares in its contract.
package struct DeclaredProgram: Hashable, Sendable {
    package let name: String
    package let receives: Set<MessageType>
    package let sends: Set<MessageType>
    /// The durable consumers that it can run. Nil for one consumer with the program's name, or none for a device.
    package let consumers: Set<String>?

    package init(name: String, receives: Set<MessageType>, sends: Set<MessageType>, consumers: Set<String>?) {
        self.name = name
        self.receives = receives
        self.sends = sends
        self.consumers = consumers
    }

    /// True for a program that displays screens, also one that displays those of several sessions.
    var isDevice: Bool { sends.contains(PlatformAccess.screenDisplayed) }

    /// A program reads its own documents again when it starts and when a session ends.
    var access: AccessEntry {
        var entry = AccessEntry()
        entry.publishes = sends.filter { $0.kind != .query }
        entry.asks = sends.filter { $0.kind == .query }
        entry.reads = receives.filter { $0.kind != .query }.union(sends.filter { $0.kind == .document })
        entry.serves = receives.filter { $0.kind == .query }
        entry.claims = consumers ?? (isDevice ? [] : [name])
        return entry
    }
}
