internal import EventBus
internal import Foundation
internal import Testing

extension ConformanceCase {
    static let reading = [
        ConformanceCase("the newest message of a type or a kind is known by its position") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1, 2])
                let none = try await bus.newest(matching: [.type(Other.self), .kind(.command)])
                #expect(none == Position(epoch: end.epoch, offset: 0))
                try await bus.publish(Other(number: 3))
                try await bus.publish(Setting(value: "4"))
                #expect(try await bus.newest(matching: [.type(Numbered.self)]) == end)
                #expect(try await bus.newest(matching: [.kind(.event)]).offset == end.offset + 1)
                #expect(
                    try await bus.newest(matching: [.type(Order.self), .type(Setting.self)]).offset == end.offset + 2)
                #expect(try await bus.newest(matching: [.all]) == (try await bus.publish(Batch([]))))
                // Of one type there may be several topics.
                let other = try await bus.publish([5], subject: "other")
                let newest = try await bus.newestOfEachType(matching: [.kind(.event), .type(Order.self)])
                #expect(
                    newest == [Numbered.type: other, Other.type: Position(epoch: end.epoch, offset: end.offset + 1)])
            }
        },
        ConformanceCase("a reader that is slow gets everything, and holds nobody else up") { fixture in
            try await fixture.withBus("conformance/slow") { slow in
                try await slow.withSubscription(to: [.type(Numbered.self)], from: .now) { messages in
                    // The reader takes nothing until all is published: the journal keeps it meanwhile.
                    try await fixture.withBus("conformance/fast") { fast in
                        let received = try await fast.withSubscription(to: [.type(Numbered.self)], from: .now) { live in
                            for start in stride(from: 0, to: 20_000, by: 500) {
                                try await fast.publish(start..<start + 500)
                            }
                            return try await live.take(20_000)
                        }
                        #expect(try received.numbers == Array(0..<20_000))
                    }
                    #expect(try await messages.take(20_000).numbers == Array(0..<20_000))
                }
            }
        },
        ConformanceCase("a reader that waits stops at once when it is cancelled, and another may read on") { fixture in
            try await fixture.withBus { bus in
                try await bus.withSubscription(to: [.all], from: .now) { messages in
                    await #expect(throws: CancellationError.self) {
                        try await withThrowingTaskGroup { group in
                            group.addTask { _ = try await messages.take(1) }
                            group.cancelAll()
                            try await group.waitForAll()
                        }
                    }
                    try await bus.publish([1])
                    #expect(try await messages.take(1).numbers == [1])
                }
            }
        },
        ConformanceCase("data that is not what its type says arrives as it is, and all that follows too") { fixture in
            try await fixture.withBus { bus in
                try await bus.withSubscription(to: [.all], from: .now) { messages in
                    let attributes = Attributes(type: Numbered.type, source: bus.source)
                    let malformed = Envelope(attributes: attributes, data: Data(#"{"number":"seven"}"#.utf8))
                    try await bus.publish(Batch([malformed]))
                    try await bus.publish([8])
                    let received = try await messages.take(2)
                    let error = #expect(throws: BusError.self) { try received[0].decode(Numbered.self) }
                    #expect(error?.code == .malformed)
                    #expect(error?.message.contains("number") == true)
                    #expect(try received[1].decode(Numbered.self).number == 8)
                }
            }
        },
    ]
}
