internal import DequeModule
internal import Device
internal import Support
internal import WebPage

/// A view of kind `device`: the parts of its scene that the page does not have yet.
struct DeviceUpdates: ViewState {
    /// The maximum number of notes that wait. Further notes are dropped.
    private static let noteLimit = 16

    private var values = ChangedValues()
    private var screens = ChangedValues()
    /// The notes that wait. Each update contains one of them.
    private var notes: Deque<[UInt8]> = []
    /// The number of the newest request to open a URL, and of the newest one that a scene has shown to be over.
    private var (lastRequest, lastEndedRequest) = (0, 0)

    var hasNews: Bool { !values.isEmpty || !screens.isEmpty || !notes.isEmpty }

    /// Shows a scene. Nil if no coordinator has published a state.
    /// - Parameter request: The number of the newest request to open a URL when the scene was made. A request that came
    ///   later may arrive here before the scene.
    mutating func show(_ scene: SceneText?, afterRequest request: Int) {
        values.set("scene", scene?.scene ?? Self.null)
        values.set("banner", scene?.banner ?? Self.null)
        if scene?.hasURL != true {
            lastEndedRequest = max(lastEndedRequest, request)
            if request >= lastRequest { values.set("url", Self.null) }
        }
        guard let scene else { return }
        screens.keep(only: scene.openOrLeaving)
        for (instance, content) in scene.contents { screens.set(instance, content) }
    }

    /// Asks the page to open a URL, once for each request.
    /// - Parameter number: The number of the request among those of the device, from 1.
    mutating func openURL(_ url: String, request: String, number: Int) {
        guard number > lastRequest, number > lastEndedRequest else { return }
        lastRequest = number
        values.set("url", Array(JSONValue.object(["url": .string(url), "request": .string(request)]).description.utf8))
    }

    mutating func addNote(_ text: String, id: String) {
        guard notes.count < Self.noteLimit else { return }
        notes.append(Array(JSONValue.object(["text": .string(text), "id": .string(id)]).description.utf8))
    }

    mutating func pulse(_ id: String) {
        values.set("pulse", Array(JSONValue.string(id).description.utf8))
    }

    /// Removes and returns the changes as a JSON object, whatever its size. Nil if there are none.
    mutating func dequeueUpdate(size: Int = .max) -> [UInt8]? {
        guard hasNews else { return nil }
        var update = ObjectText()
        for (key, value) in values.drain() { update.add(key, value) }
        let changed = screens.drain()
        if !changed.isEmpty {
            var contents = ObjectText()
            for (instance, content) in changed { contents.add(instance, content) }
            update.add("screens", contents.closed)
        }
        if let note = notes.popFirst() { update.add("note", note) }
        return update.closed
    }

    private static let null = Array("null".utf8)
}
