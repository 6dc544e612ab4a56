internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// Some rows of the journal, oldest first.
struct MessagePage: Sendable {
    var rows: [MessageRow] = []
    /// True if there may be more rows in the stretch that was asked for.
    var hasMore = false
    /// If there may be more rows: the position after which, or before which, the rest of the stretch is.
    var next: Position?
}

/// Reads messages from the journal.
struct MessageArchive: Sendable {
    static let pageLimit = 200
    private static let storyLimit = 1000

    let bus: EventBus
    /// About the maximum number of messages, of any type, that are searched for one answer.
    var searchLimit = 200_000

    // MARK: Pages

    /// The newest matching messages up to a position.
    func last(_ limit: Int, _ selection: MessageSelection, through end: Position) async throws -> MessagePage {
        var page = MessagePage()
        var tail = JournalTail(of: bus, end: end)
        while page.rows.count < limit, tail.start.offset > 0, tail.searched < searchLimit {
            var stretch: [MessageRow] = []
            let isRead = try await tail.readStretch(selection.filters) { message in
                guard message.position != nil, selection.matches(message) else { return }
                stretch.append(MessageRow(message))
                // A stretch can be long. One row more than the limit tells that there are more.
                if stretch.count > 2 * limit { stretch = Array(stretch.inOrder.suffix(limit + 1)) }
            }
            guard isRead else { break }
            page.rows = Array((stretch.inOrder + page.rows).suffix(limit + 1))
        }
        let isFull = page.rows.count > limit
        page.hasMore = isFull || tail.start.offset > 0
        page.rows = Array(page.rows.suffix(limit))
        if page.hasMore {
            page.next = isFull ? page.rows[0].position : Position(epoch: end.epoch, offset: tail.start.offset + 1)
        }
        return page
    }

    /// The oldest matching messages of a stretch.
    func first(_ limit: Int, _ selection: MessageSelection, after start: Position, through end: Position) async throws
        -> MessagePage
    {
        var page = MessagePage()
        guard start.epoch == end.epoch, start.offset < end.offset else { return page }
        let reach = try await bus.inspect.position(start, offsetBy: searchLimit)
        let stop = Position(epoch: end.epoch, offset: min(end.offset, reach.offset))
        page.rows = try await bus.withSubscription(
            to: selection.filters, from: .after(start), until: stop, onNotice: nil
        ) { messages in
            var rows: [MessageRow] = []
            // A transient message can arrive while the journal is read.
            for try await message in messages where message.position != nil && selection.matches(message) {
                rows.append(MessageRow(message))
                if rows.count > limit { break }
            }
            return rows
        }
        page.hasMore = page.rows.count > limit || stop.offset < end.offset
        if page.hasMore { page.next = page.rows.count > limit ? page.rows[limit - 1].position : stop }
        page.rows = Array(page.rows.prefix(limit).inOrder)
        return page
    }

    // MARK: One message

    /// The message at a position. Nil if there is none, or if retention has removed it.
    func message(at position: Position) async throws -> Envelope? {
        let end = try await bus.inspect.end()
        guard (1...max(1, end.offset)).contains(position.offset), end.epoch == position.epoch else { return nil }
        let before = Position(epoch: position.epoch, offset: position.offset - 1)
        return try await bus.withSubscription(to: [.all], from: .after(before), until: position, onNotice: nil) {
            for try await message in $0 where message.position == position { return message }
            return nil
        }
    }

    /// The version of a document before this one. Nil if there is none, or if it is too far away in the journal.
    func version(before document: Envelope) async throws -> Envelope? {
        guard document.type.kind == .document, let position = document.position, position.offset > 0 else { return nil }
        var tail = JournalTail(of: bus, end: Position(epoch: position.epoch, offset: position.offset - 1))
        var found: Envelope?
        while found == nil, tail.searched < searchLimit {
            let filter = MessageFilter.type(document.type, subject: document.subject)
            let isRead = try await tail.readStretch([filter]) { message in
                if message.subject == document.subject, message.attributes.key == document.attributes.key {
                    found = message
                }
            }
            guard isRead else { break }
        }
        return found
    }

    // MARK: A story

    struct Story: Sendable {
        let messages: [MessageRow]
        /// False if the first message was not found, or if messages were left out.
        let isComplete: Bool
    }

    /// The messages with a correlation id, oldest first.
    func story(_ id: String) async throws -> Story {
        let end = try await bus.inspect.end()
        var tail = JournalTail(of: bus, end: end)
        var rows: [MessageRow] = []
        var hasFirst = false
        while !hasFirst, tail.searched < searchLimit {
            var stretch: [MessageRow] = []
            let isRead = try await tail.readStretch([.all]) { message in
                guard message.attributes.correlationID == id, message.position != nil else { return }
                if message.id == id { hasFirst = true }
                stretch.append(MessageRow(message))
                if stretch.count > 2 * Self.storyLimit { stretch = Array(stretch.inOrder.prefix(Self.storyLimit + 1)) }
            }
            guard isRead else { break }
            rows = Array((stretch.inOrder + rows).prefix(Self.storyLimit + 1))
        }
        return Story(
            messages: Array(rows.prefix(Self.storyLimit)), isComplete: hasFirst && rows.count <= Self.storyLimit)
    }
}

extension Sequence<MessageRow> {
    /// The rows in the order of the journal.
    fileprivate var inOrder: [MessageRow] { sorted { $0.offset < $1.offset } }
}

extension MessageArchive.Story {
    /// The messages as the page shows them. A process has handled a message if it has published a message that this one
    /// caused.
    var json: JSONValue {
        let effects = Dictionary(grouping: messages.filter { $0.cause != nil }) { $0.cause ?? "" }
        let rows = messages.map { row -> JSONValue in
            var members = row.members
            var seen: Set<String> = []
            let handlers = (effects[row.id] ?? []).filter { seen.insert($0.source).inserted }
            members["handledBy"] = .array(
                handlers.map { ["source": .string($0.source), "at": .string(Timestamp.text(of: $0.time))] })
            return .object(members)
        }
        return ["messages": .array(rows), "complete": .bool(isComplete)]
    }
}
