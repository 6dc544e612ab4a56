internal import EventBus
internal import Testing

extension ConformanceCase {
    static let filtering = [
        ConformanceCase("a filter by kind lets all types of that kind through") { fixture in
            let types = try await fixture.types(passing: [.kind(.event)])
            #expect(types == ["event.Numbered one", "event.Numbered two", "event.Other one"])
        },
        ConformanceCase("a filter by type lets no other type through, not even one that begins alike") { fixture in
            let types = try await fixture.types(passing: [.type(MessageType(kind: .event, name: "Other"))])
            #expect(types == ["event.Other one"])
            #expect(try await fixture.types(passing: [.type(MessageType(kind: .event, name: "Num"))]).isEmpty)
        },
        ConformanceCase("a filter by subject lets no other subject through") { fixture in
            let types = try await fixture.types(passing: [.type(Numbered.self, subject: "two")])
            #expect(types == ["event.Numbered two"])
            let all = try await fixture.types(passing: [MessageFilter(subject: "one")])
            #expect(all == ["command.Order one", "event.Numbered one", "event.Other one"])
        },
        ConformanceCase("a message that matches two filters arrives once") { fixture in
            let types = try await fixture.types(passing: [.type(Order.self), .kind(.command), .type(Other.self)])
            #expect(types == ["command.Order one", "event.Other one"])
        },
    ]
}

extension ConformanceFixture {
    /// What passes the filters of a fixed handful of messages, as `type subject`, sorted.
    fileprivate func types(passing filters: [MessageFilter]) async throws -> [String] {
        try await withBus { bus in
            try await bus.withSubscription(to: filters + [.type(Marker.self)], from: .now) { messages in
                try await bus.publish(Numbered(number: 1), subject: "one")
                try await bus.publish(Numbered(number: 2), subject: "two")
                try await bus.publish(Other(number: 3), subject: "one")
                try await bus.publish(Order(number: 4), subject: "one")
                try await bus.publish(Marker(), subject: "one")
                return try await messages.beforeMarker().map { "\($0.type) \($0.subject)" }.sorted()
            }
        }
    }
}
