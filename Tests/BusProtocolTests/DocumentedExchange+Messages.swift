import EventBus
import Foundation

@testable import BusProtocol

/// What the exchange is about.
extension DocumentedExchange {
    static let epoch: UInt64 = 0x2a
    static let producer = id(of: 0x00)
    static let client = id(of: 0x10)
    static let server = id(of: 0x20)
    static let member = id(of: 0xf0)

    /// Sixteen bytes that count on from one.
    private static func id(of first: UInt8) -> UUID {
        let first = first & 0xf0
        return UUID(
            uuid: (
                first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7, first + 8,
                first + 9, first + 10, first + 11, first + 12, first + 13, first + 14, first + 15
            ))
    }

    static let event = PublishedMessage(
        topic: "event.LaunchFinished.3e", subject: "default", key: "",
        header: bytes(
            #"{"id":"1","source":"me","specversion":"1.0","subject":"default","type":"event.LaunchFinished"}"#),
        data: bytes("{}"))
    static func journalled(previousInPartition: UInt64 = 0) -> FeedMessage {
        FeedMessage(
            topic: event.topic, epoch: epoch, offset: 8, previous: 0, previousInPartition: previousInPartition,
            header: event.header, data: event.data)
    }
    static let document = FeedMessage(
        topic: "document.Playlists.3e", epoch: epoch, offset: 5, previous: 0,
        header: bytes(
            #"{"id":"0","source":"you","specversion":"1.0","subject":"default","type":"document.Playlists"}"#),
        data: bytes(#"{"playlists":[]}"#))
    static let query = PublishedMessage(
        topic: "query.Songs.3e", subject: "default", key: "",
        header: bytes(#"{"id":"2","source":"me","specversion":"1.0","subject":"default","type":"query.Songs"}"#),
        data: bytes(#"{"playlist":"p1"}"#))
    static let answer = (
        header: bytes(
            #"{"causationid":"2","id":"3","source":"you","specversion":"1.0","subject":"default","type":"query.Songs"}"#
        ),
        data: bytes(#"{"songs":[]}"#)
    )
    static let rejection = RejectionFrame(attempts: 4, code: "music.offline", reason: "The player is not there.")
    static let letter = Letters.Letter(
        id: 1, time: 1_700_000_000_000, consumer: "music", rejection: rejection, message: journalled())

    private static func bytes(_ text: String) -> Bytes { Array(text.utf8)[...] }
}
