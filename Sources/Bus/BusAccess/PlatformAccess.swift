package import EventBus
internal import Support

/// The messages of Segue itself, which its programs send and read without a declaration of the app.
package enum PlatformAccess {
    // MARK: Every process

    /// The documents with which every process announces itself. Each belongs to the process that has published it.
    package static let announcements = [presence, document("ServiceContract")]
    /// The types that processes send as transient messages only: the request for all metrics, and its answers.
    package static let reports = [metricsRequested, metricsReported]

    static let presence = document("Presence")
    package static let metricsRequested = event("MetricsRequested")
    static let metricsReported = event("MetricsReported")

    // MARK: Services

    /// The types that every durable consumer and every server of queries may publish.
    static let outcomes: Set<MessageType> = [applicationError, event("MessageDiscarded")]
    /// The commands that a durable consumer sends later. The key begins with the name of the consumer.
    static let scheduledCommand = document("ScheduledCommand")
    /// The documents of a coordinator whose key is its platform.
    static let platformDocuments: Set<MessageType> = [document("NavigationState"), document("Flow")]
    /// The document of a coordinator whose key begins with its platform.
    static let deadline = document("Deadline")

    /// The platform of a coordinator. Nil for another durable consumer.
    static func platform(ofConsumer name: String) -> String? {
        name.removing(prefix: "navigation-coordinator.").map(String.init)
    }

    // MARK: Devices

    /// The command by which a program is recognised as a device: only devices display screens.
    static let screenDisplayed = MessageType(kind: .command, name: "ScreenDisplayed")
    /// The documents of the default session that a device of another session reads.
    static let sharedDocuments: Set<MessageType> = [document("Flow"), document("ServiceContract")]
    /// The errors of the broker, which are in the default session.
    static let applicationError = MessageType(kind: .error, name: "ApplicationError")
    /// The documents of services that are not for devices.
    static let internalDocuments: Set<MessageType> = [
        presence, scheduledCommand, deadline, document("ErrorQueue"),
    ]

    /// True for the types of which a device receives messages of the default session, besides those of its own.
    package static func areShared(_ type: MessageType) -> Bool {
        sharedDocuments.contains(type) || type == applicationError
    }

    /// All types of this list.
    package static let all: Set<MessageType> =
        outcomes.union(announcements).union(reports).union(platformDocuments).union(sharedDocuments)
        .union(internalDocuments).union([screenDisplayed, applicationError])

    private static func document(_ name: String) -> MessageType { MessageType(kind: .document, name: name) }
    private static func event(_ name: String) -> MessageType { MessageType(kind: .event, name: name) }
}
