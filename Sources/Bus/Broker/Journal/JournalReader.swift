internal import BusFormat
package import EventBus
internal import Foundation
internal import GRDB

/// Reads the messages in the file of a journal, also while a broker uses it. Writes nothing.
package struct JournalReader: Sendable {
    private let path: String
    private let database: DatabaseQueue

    /// The number of messages that are read at once. A longer reading transaction would keep the broker from shortening
    /// its log.
    private static let pageCount = 4096

    /// The size of the headers and the data, in bytes, above which a page ends.
    private static let pageSize = 16 << 20

    /// - Throws: ``BusError`` with code `journal` if the file cannot be read.
    package init(path: String) throws {
        self.path = path
        var configuration = Configuration()
        configuration.readonly = true
        guard FileManager.default.fileExists(atPath: path) else {
            throw BusError(.journal, "there is no journal \(path); name the broker's file")
        }
        do {
            // check-lines: the file is only read.
            database = try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw Self.unreadable(path, error)
        }
    }

    /// Calls `body` with all messages, in parts and in the order of their offsets. Skips rows that are damaged.
    /// - Returns: The number of damaged rows.
    /// - Throws: ``BusError`` with code `journal` if the file is not a journal; the errors of `body`.
    package func read(_ body: ([Envelope]) async throws -> Void) async throws -> Int {
        var damageCount = 0
        var last: Int64 = 0
        while true {
            let page = try await page(after: last)
            if !page.messages.isEmpty { try await body(page.messages) }
            damageCount += page.damageCount
            guard let next = page.last else { return damageCount }
            last = next
        }
    }

    private struct Page {
        var messages: [Envelope] = []
        var damageCount = 0
        /// The offset of the last row. Nil if there are no more rows.
        var last: Int64?
    }

    private func page(after offset: Int64) async throws -> Page {
        do {
            return try await database.read { database in
                let epoch = try Int64.fetchOne(database, sql: "SELECT value FROM journal WHERE key = 'epoch'") ?? 0
                let statement = try database.cachedStatement(
                    sql: """
                        SELECT offset, name, header, data, messages.session, messages.publisher
                        FROM messages JOIN topics ON topics.id = messages.topic
                        WHERE offset > :offset ORDER BY offset LIMIT :count
                        """)
                let rows = try Row.fetchCursor(statement, arguments: ["offset": offset, "count": Self.pageCount])
                var page = Page()
                var size = 0
                while size < Self.pageSize, let row = try rows.next() {
                    guard let offset = try? row.number("offset", as: Int64.self) else {
                        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row has no offset")
                    }
                    page.last = offset
                    let position = Position(epoch: UInt64(clamping: epoch), offset: UInt64(offset))
                    if let (message, length) = try? Self.message(row, position) {
                        page.messages.append(message)
                        size += length
                    } else {
                        page.damageCount += 1
                    }
                }
                return page
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Self.unreadable(path, error)
        }
    }

    /// - Returns: The message, and the size of its header and data.
    private static func message(_ row: Row, _ position: Position) throws -> (Envelope, Int) {
        let origin: VerifiedOrigin? = try row.value("publisher", as: String?.self).map { publisher in
            VerifiedOrigin(session: try row.value("session", as: String?.self) ?? "", publisher: publisher)
        }
        let header = Bytes(try row.value("header", as: Data.self))
        let data = Bytes(try row.value("data", as: Data.self))
        let message = try Envelope(
            topic: row.value("name"), header: header, data: data, position: position, origin: origin)
        return (message, header.count + data.count)
    }

    private static func unreadable(_ path: String, _ error: any Error) -> BusError {
        BusError(
            .journal,
            "\(path) is not a journal that can be read: \(DatabaseError(error)?.summary ?? "\(error)"); name the broker's file"
        )
    }
}
