import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPTypes
import Logging
import Navigation
import PageTestSupport
import Presentation
import SignIn
import Support
import TestSupport
import Testing
import Vocabulary

@testable import WebDevice
@testable import WebPage

@Suite("Devices of the page", .timeLimit(.minutes(2)))
struct DeviceViewTests {
    private func session(_ snapshot: NavigationSnapshot, _ documents: any DocumentMessage...) throws -> DeviceSession {
        var session = DeviceSession(
            .phone, screens: .focusPlayer, commandLifetime: .seconds(60), isAnimated: true)
        _ = try session.handle(.message(.answer(Document.NavigationState(snapshot))))
        for document in documents { _ = try session.handle(.message(try .answer(document))) }
        return session
    }

    private func text(_ session: DeviceSession) throws -> SceneText {
        try SceneText(session, try #require(session.scene))
    }

    @Test("A scene has the state, the screens in front, and the contents of all open screens")
    func scene() throws {
        let sheet = Presentation(.sheet, .sample("activateDevice", 3))
        let snapshot = try NavigationSnapshot.sample(
            root: "playlistSelection", path: [.sample("generatedPlaylist", 2, playlist: "calm")],
            presentations: [sheet])
        let text = try text(try session(snapshot, Document.Playlists.two, Document.GeneratedPlaylist.calm))
        let scene = try JSONValue(parsing: Data(text.scene))
        #expect(scene["platform"] == "ios" && scene["revision"] == 7)
        #expect(scene["front"] == ["activateDevice-3"])
        #expect(scene["dismissible"] == ["activateDevice-3"])
        #expect(scene["back"] == [:], "the sheet covers the stack")
        #expect(scene["state"] == (try JSONValue(encoding: snapshot.state)))
        #expect(scene.value(at: "screenTitles.playlistSelection") != nil)
        #expect(
            Set(text.contents.map(\.instance)) == ["playlistSelection-1", "generatedPlaylist-2", "activateDevice-3"])
        #expect(text.banner == Array("null".utf8))
    }

    @Test("A row that can be selected has a choice, and the choice is the same on the next scene")
    func choices() throws {
        let snapshot = try NavigationSnapshot.sample(root: "playlistSelection")
        var session = try session(snapshot, Document.Playlists.two)
        let first = try JSONValue(parsing: Data(try #require(try text(session).contents.first).content))
        let rows = try #require(first.value(at: "sections.0.rows")?.arrayValue)
        #expect(rows.map { $0["title"] } == ["Calm", "Rain"])
        let choices = rows.compactMap { $0["choice"]?.stringValue }
        #expect(Set(choices).count == 2)
        _ = try session.handle(.message(try .answer(Document.Playlists.many(3))))
        _ = try session.handle(.message(try .answer(Document.Playlists.two)))
        let second = try JSONValue(parsing: Data(try #require(try text(session).contents.first).content))
        #expect(second == first)
    }

    @Test("A row of a covered list has no choice until the list is in front")
    func covered() throws {
        func rows(_ path: [ScreenInstance]) throws -> [JSONValue] {
            let snapshot = try NavigationSnapshot.sample(root: "playlistSelection", path: path)
            let session = try session(snapshot, Document.Playlists.two, Document.GeneratedPlaylist.calm)
            return try text(session).contents.flatMap { content in
                let sections = try JSONValue(parsing: Data(content.content))["sections"]?.arrayValue ?? []
                return sections.flatMap { $0["rows"]?.arrayValue ?? [] }
            }
        }
        let front = try rows([])
        #expect(front.map { $0["selectable"] } == [true, true])
        #expect(front.allSatisfy { $0["choice"] != .null })
        let covered = try rows([.sample("generatedPlaylist", 2, playlist: "calm")])
        #expect(covered.prefix(2).map { $0["title"] } == ["Calm", "Rain"])
        #expect(covered.prefix(2).map { $0["selectable"] } == [true, true])
        #expect(covered.allSatisfy { $0["choice"] == .null })
        #expect(covered.dropFirst(2).allSatisfy { $0["selectable"] == false }, "a song is only a text")
        #expect(covered.count > 2)
    }

    @Test("A hostile state becomes a note, and the messages after it arrive")
    func hostile() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await withGateway(bus) { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let views: JSONValue = [
                "open": [
                    ["id": "m", "kind": "messages"],
                    ["id": "d", "kind": "device", "platform": "ios", "device": "web-1"],
                ]
            ]
            #expect(try await page.post("/api/stream/abcdefgh/views", views).status == .noContent)
            func publish(_ path: [ScreenInstance], _ revision: Int) async throws {
                let snapshot = try NavigationSnapshot.sample(revision: revision, root: "serviceSelection", path: path)
                try await bus.publish(Document.NavigationState(snapshot))
            }
            var rows = 0
            func count(_ event: ServerEvent) { rows += event.data.value(at: "views.m.rows")?.arrayValue?.count ?? 0 }
            // The device is attached when its launch arrives.
            while rows < 1 { count(try #require(try await stream.next())) }
            try await publish((2..<10_002).map { .sample("list", $0) }, 1)
            try await publish([.sample("list", 2), .sample("list", 2)], 2)
            try await publish([], 3)
            var (notes, revision) = ([String](), 0)
            while notes.count < 2 || rows < 4 || revision < 3 {
                let event = try #require(try await stream.next())
                let device = event.data.value(at: "views.d")
                if let note = device?.value(at: "note.text")?.stringValue { notes.append(note) }
                revision = device?.value(at: "scene.revision")?.integerValue ?? revision
                count(event)
            }
            #expect(notes[0].contains("10001 screens") && notes[1].contains("two screens with the id 'list-2'"))
        }
    }

    @Test("A closed device counts until its messages have been published, so closed devices do not pile up")
    func closedDevices() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let hub = Hub(Hub.Identity(run: "r", stack: "segue", isReadOnly: false)) { .zero }
        _ = try await hub.connect(StreamName("abcdefgh", for: .operator), lastEventID: nil)
        let devices = PageDevices(
            PageEnvironment(hub: hub, bus: bus, version: "1", logger: .silent, clock: ContinuousClock()), screens: nil)
        // Each device replaces the one before.
        func open() async throws {
            let json: JSONValue = ["platform": "ios", "device": "web-1", "resumed": true]
            try await devices.open(
                ViewRequest(
                    name: ViewName(stream: StreamName("abcdefgh", for: .operator), id: "d"), kind: "device", json: json)
            )
        }
        for _ in 0..<PageDevices.capacity.all { try await open() }
        await #expect(throws: RequestError.self) { try await open() }
        devices.deviceHasEnded(of: .operator)
        try await open()
    }

    @Test("Sessions together leave devices to operators")
    func reserve() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        let hub = Hub(Hub.Identity(run: "r", stack: "segue", isReadOnly: false)) { .zero }
        let devices = PageDevices(
            PageEnvironment(hub: hub, bus: bus, version: "1", logger: .silent, clock: ContinuousClock()), screens: nil)
        func open(for access: PageAccess) async throws {
            let stream = StreamName("abcdefgh", for: access)
            _ = try await hub.connect(stream, lastEventID: nil)
            let json: JSONValue = ["platform": "ios", "device": "web-1", "resumed": true]
            try await devices.open(ViewRequest(name: ViewName(stream: stream, id: "d"), kind: "device", json: json))
        }
        let (limit, all) = (PageDevices.capacity.session, PageDevices.capacity.sessions)
        for number in 0..<all { try await open(for: .session("\(number / limit)")) }
        await #expect(throws: RequestError.self) { try await open(for: .session("anna")) }
        for _ in all..<PageDevices.capacity.all { try await open(for: .operator) }
    }

    @Test("A closed device makes room for another one")
    func room() async throws {
        try await withGateway { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "d", "kind": "device", "platform": "ios", "device": "web-1"]
            for _ in 0...PageDevices.capacity.all {
                var status = 429
                while status == 429 {
                    status = try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status.code
                }
                #expect(status == 204)
            }
        }
    }

    @Test("An update has only the parts that have changed")
    func updates() throws {
        let snapshot = try NavigationSnapshot.sample(root: "playlistSelection")
        var session = try session(snapshot, Document.Playlists.two)
        var updates = DeviceUpdates()
        func update() throws -> JSONValue? {
            let bytes = updates.dequeueUpdate()
            return try bytes.map { try JSONValue(parsing: Data($0)) }
        }
        updates.show(try text(session), afterRequest: 0)
        let all = try #require(try update())
        #expect(Set(all.objectValue?.keys ?? [:].keys) == ["scene", "banner", "url", "screens"])
        updates.show(try text(session), afterRequest: 0)
        #expect(try update() == nil)
        _ = try session.handle(.message(try .answer(Document.Playlists.many(1))))
        updates.show(try text(session), afterRequest: 0)
        let rows = try #require(try update())
        #expect(Set(rows.objectValue?.keys ?? [:].keys) == ["screens"])
        updates.addNote("one", id: "1")
        updates.addNote("two", id: "2")
        #expect(try update() == ["note": ["text": "one", "id": "1"]])
        #expect(try update() == ["note": ["text": "two", "id": "2"]])
        updates.show(nil, afterRequest: 0)
        #expect(try update() == ["scene": .null])
    }

    @Test("A request to open a URL survives a late, older scene, and ends with the request's own scene")
    func lateScene() throws {
        var session = try session(try NavigationSnapshot.sample(root: "playlistSelection"), Document.Playlists.two)
        var updates = DeviceUpdates()
        func url() throws -> JSONValue? {
            try updates.dequeueUpdate().flatMap { try JSONValue(parsing: Data($0))["url"] }
        }
        let scene = try text(session)
        updates.openURL("https://a.example", request: "1", number: 1)
        updates.show(scene, afterRequest: 0)
        #expect(try url() == ["url": "https://a.example", "request": "1"])
        updates.show(scene, afterRequest: 1)
        #expect(try url() == .null)
        _ = try session.handle(.message(try .answer(Document.Playlists.many(1))))
        updates.show(try text(session), afterRequest: 2)
        updates.openURL("https://b.example", request: "2", number: 2)
        #expect(try url() == nil)
    }

    @Test("A URL opens only on the device that requested it, and other schemes are shown as a note")
    func urls() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await withGateway(bus) { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "d", "kind": "device", "platform": "ios", "device": "web-1", "resumed": true]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            try await bus.publish(
                Document.NavigationState(try .sample(root: "serviceSelection")), origin: Origin(platform: "ios"))
            while try await stream.next()?.data.value(at: "views.d.scene")?.objectValue == nil {}
            func request(_ url: String, _ device: String) async throws -> Envelope {
                try await bus.publish(
                    DomainEvent.URLOpenRequested(url: url), origin: Origin(platform: "ios", device: device))
            }
            _ = try await request("https://a.b/other", "web-2")
            let own = try await request("https://a.b/own", "web-1")
            var url: JSONValue?
            while url == nil { url = try await stream.next()?.data.value(at: "views.d.url") }
            #expect(url == ["url": "https://a.b/own", "request": .string(own.id)])
            _ = try await request("javascript:alert(1)", "web-1")
            var note: JSONValue?
            while note == nil { note = try await stream.next()?.data.value(at: "views.d.note.text") }
            #expect(note?.stringValue?.contains("javascript:alert(1)") == true)
            let launches = try await bus.documents(matching: [.all]).count
            #expect(launches == 1, "a resumed device publishes nothing by itself")
        }
    }

    @Test("A choice with fields that do not match the contract is refused with the reason")
    func fields() async throws {
        let bus = EventBus.inMemory(source: "web-gateway/1")
        try await withGateway(bus) { page in
            let type = MessageType(kind: .command, name: "NameEntered")
            try await bus.publish(
                Document.ServiceContract(
                    name: "names", version: "1", instance: "1",
                    receives: [
                        MessageContract(type: type, data: .object(requiring: ["name": .string, "count": .number]))
                    ], sends: []))
            var snapshot = try NavigationSnapshot.sample(flow: "onboarding", root: "name")
            snapshot.commands = ["command.NameEntered"]
            try await bus.publish(Document.NavigationState(snapshot))
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            _ = try await stream.next()
            let view: JSONValue = ["id": "d", "kind": "device", "platform": "ios", "device": "web-1"]
            #expect(try await page.post("/api/stream/abcdefgh/views", ["open": [view]]).status == .noContent)
            var action: JSONValue?
            while action?["schema"]?.objectValue == nil {
                let screens = try await stream.next()?.data.value(at: "views.d.screens")
                action = screens?["name-1"]?.value(at: "actions.0") ?? action
            }
            let choice = try #require(action?["choice"])
            #expect(action?["type"] == "command.NameEntered")
            #expect(action?.value(at: "schema.properties.name.type") == "string")
            let path = "/api/stream/abcdefgh/device/d"
            let wrong = try await page.post(path, ["choose": choice, "fields": ["name": 1]])
            #expect(wrong.status == .badRequest && wrong.text.contains("NameEntered"))
            // The fields pass as they are written: more digits than a number of JavaScript has, and a name twice.
            let fields = #"{"name":"Ann","count":12345678901234567890,"count":1.10}"#
            let body = Data(#"{"choose":\#(choice),"fields":\#(fields)}"#.utf8)
            let headers: HTTPFields = [.contentType: "application/json", .segue: "1"]
            #expect(try await page.send(.post, path, headers, body).status == .noContent)
            let sent = try await bus.withSubscription(to: [.type(type)], from: .beginning) {
                try await $0.first
            }
            #expect(sent.map { String(decoding: $0.data, as: UTF8.self) } == fields)
            #expect(sent?.attributes.origin == Origin(platform: "ios", device: "web-1", instance: "name-1"))
            #expect(try await page.post("/api/stream/abcdefgh/views", ["close": ["d"]]).status == .noContent)
            #expect(try await page.post(path, ["displayed": 1]).status == .notFound)
        }
    }
}
