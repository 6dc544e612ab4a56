package import Navigation

/// The sessions that coordinators shared during a run: the messages of the navigation, and the faults.
package struct NavigationHistory: Sendable {
    /// The flow of the coordinators.
    package let flow: Flow
    /// The messages in the order of the journal.
    package var entries: [NavigationEntry]
    /// The times at which the broker and the coordinators came and went, in order.
    package var changes: [AvailabilityChange] = []

    package init(flow: Flow, entries: [NavigationEntry]) {
        self.flow = flow
        self.entries = entries
    }
}

/// A message of the navigation in the journal at the end of a run.
package struct NavigationEntry: Sendable {
    package enum Content: Sendable {
        /// A message that the coordinators handle.
        case input(Machine.Input)
        /// A state that a coordinator published because of the message with the id `cause`. The cause is nil for the
        /// state of a session that begins without a message.
        case state(NavigationSnapshot, cause: String?)
        /// A deadline that a coordinator recorded, or withdrew if it is no longer open.
        case deadline(key: String, isOpen: Bool)
        /// Another result of a coordinator.
        case result
        /// An error that a coordinator reported.
        case failure(String)
    }

    package let id: String
    package let session: String
    /// The process that published the message.
    package let source: String
    package let offset: UInt64
    /// The time at which the message was made, in milliseconds since 1970.
    package let time: Int
    package let content: Content

    package init(id: String, session: String, source: String, offset: UInt64, time: Int, content: Content) {
        self.id = id
        self.session = session
        self.source = source
        self.offset = offset
        self.time = time
        self.content = content
    }
}

/// The start, end, stop or continuation of a process on which sessions depend.
package struct AvailabilityChange: Hashable, Sendable {
    package enum Process: Hashable, Sendable {
        case broker
        /// The answers of a running broker. They are not available while an answer takes longer than a second, for
        /// example because the disk is busy. The broker may then begin all leases anew.
        case answers
        case coordinator(Int)

        fileprivate var isCoordinator: Bool {
            if case .coordinator = self { true } else { false }
        }
    }

    /// In milliseconds since 1970. An end or a stop is noted before it happens, a start or a continuation afterwards.
    package let time: Int
    package let process: Process
    package let isAvailable: Bool

    package init(time: Int, process: Process, isAvailable: Bool) {
        self.time = time
        self.process = process
        self.isAvailable = isAvailable
    }
}

extension NavigationHistory {
    /// The times without faults: the broker answers and at least one coordinator is available, no coordinator goes, and
    /// the broker does not come. A coordinator that comes is not a fault.
    var calm: [ClosedRange<Int>] {
        var calm: [ClosedRange<Int>] = []
        var available: Set<AvailabilityChange.Process> = [.answers]
        var start: Int?
        for change in changes {
            if change.isAvailable { available.insert(change.process) } else { available.remove(change.process) }
            if start != nil, change.isAvailable, change.process.isCoordinator { continue }
            if let start { calm.append(start...max(start, change.time)) }
            let canAnswer = available.isSuperset(of: [.broker, .answers]) && available.contains(where: \.isCoordinator)
            start = canAnswer ? change.time : nil
        }
        if let start { calm.append(start...Int.max) }
        return calm
    }
}
