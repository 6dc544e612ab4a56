import EventBus
import Foundation
import SegueTestSupport
import SignIn
import Support
import TestSupport
import Testing

/// The focus player with its page in a browser. A script acts as the person.
enum PageStory {
    /// Runs a script. If it fails, the error contains the logs of all processes.
    /// - Parameter shape: Either a process for each service, with the broker or with NATS.
    static func tell(_ script: String, in shape: Story.Shape = .processes) async throws {
        try await Story.tell(in: shape) { story in
            try await PageScript(name: script, link: try link(story)).run { try await carryOut($0, in: story) }
        }
    }

    /// Runs a script on the default stack with a further flow, and with a gateway that finds no other program.
    /// - Parameter flow: The text of the flow, which a further coordinator follows.
    static func tell(_ script: String, beside flow: String) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let stack = try String(contentsOfFile: Repository.path("compose/default.yaml"), encoding: .utf8)
            .replacing("working_dir: ..", with: "working_dir: \(Repository.path("."))")
            .replacing(
                "    command: focus-player web\n",
                with: "    command: focus-player web\n    environment: { PATH: \(scratch.path) }\n")
        let (file, flowFile) = (scratch.path("compose.yaml"), scratch.path("flow.yaml"))
        try stack.write(toFile: file, atomically: true, encoding: .utf8)
        try flow.write(toFile: flowFile, atomically: true, encoding: .utf8)
        let coordinator = TestService(
            "flow-coordinator", command: ["navigation-coordinator", "--flow", flowFile], after: ["broker"])
        try await Story.tell(path: file, beside: [coordinator]) { story in
            try await PageScript(name: script, link: try link(story)).run { try await carryOut($0, in: story) }
        }
    }

    /// Writes a page that signs a browser in, as `segue open` does.
    private static func link(_ story: Story, for access: PageAccess = .operator) throws -> String {
        let folder = PageFolder(state: try story.processes.dataDirectory)
        let address = try #require(folder.address(), "the gateway has stored no address in \(folder.path)")
        return try folder.writeLink(to: address, for: access)
    }

    /// Carries out a step that a script has asked for.
    private static func carryOut(_ step: String, in story: Story) async throws -> String {
        let words = step.split(separator: " ", maxSplits: 2).map(String.init)
        switch (words.first, words.count) {
        case ("link", 1): return try link(story)
        case ("link", 2): return try link(story, for: .session(words[1]))
        case ("kill", 2): try await story.processes.killAndRestart(words[1])
        case ("freeze", 2): try await story.processes.freeze(words[1])
        case ("thaw", 2): try story.processes.thaw(words[1])
        case ("control", 3): try await story.control(words[1], words[2])
        case ("publish", 3): try await publish(words[1], words[2], in: story)
        case ("transient", 3): try await publish(words[1], words[2], isTransient: true, in: story)
        case ("end", 1): return String(try await story.bus.inspect.end().offset)
        case ("await", 3): try await recorded(words[2], after: words[1], in: story)
        case ("messages", 3): return try await messages(after: words[1], words[2], in: story)
        default: throw PageScript.Failure(description: "unknown step '\(step)'")
        }
        return "done"
    }

    /// - Parameter data: JSON, or `@` and the path of a file with JSON that is too long for one line.
    private static func publish(
        _ type: String, _ data: String, isTransient: Bool = false, in story: Story
    ) async throws {
        guard let type = MessageType(type) else { throw PageScript.Failure(description: "'\(type)' is no type") }
        let json = data.hasPrefix("@") ? try Data(contentsOf: URL(filePath: String(data.dropFirst()))) : Data(data.utf8)
        let attributes = Attributes(type: type, source: "test/1", subject: Session.default)
        let message = Envelope(attributes: attributes, data: json)
        if isTransient {
            try await story.bus.publishTransient([message])
        } else {
            try await story.bus.publish(Batch([message]))
        }
    }

    /// Waits until a message of a type is recorded after an offset.
    private static func recorded(_ type: String, after offset: String, in story: Story) async throws {
        let start = UInt64(offset) ?? 0
        try await story.stack.until("\(type) is recorded") { messages in
            messages.contains { $0.type.description == type && $0.position?.offset ?? 0 > start }
        }
    }

    /// The messages that were recorded after an offset, as JSON.
    /// - Parameter types: Types of messages, such as `event.LaunchFinished`, or beginnings of types, such as `event.`.
    private static func messages(after offset: String, _ types: String, in story: Story) async throws -> String {
        let types = types.split(separator: " ")
        let start = UInt64(offset) ?? 0
        let end = try await story.bus.inspect.end().offset
        try await story.stack.until("all messages have arrived") { messages in
            (messages.last { $0.position != nil }?.position?.offset ?? 0) >= end
        }
        let rows = story.stack.messages.compactMap { message -> JSONValue? in
            guard let position = message.position, position.offset > start else { return nil }
            guard types.contains(where: { message.type.description.hasPrefix($0) }) else { return nil }
            return [
                "type": .string(message.type.description), "source": .string(message.attributes.source),
                "platform": message.attributes.platform.map(JSONValue.string) ?? .null,
                "data": (try? JSONDecoder().decode(JSONValue.self, from: message.data)) ?? .null,
            ]
        }
        return JSONValue.array(rows).description
    }
}
