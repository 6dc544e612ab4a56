package import Device
internal import EventBus
internal import Hummingbird
internal import SignIn
package import Support
internal import Synchronization
package import WebPage

/// The devices of the page: views of kind `device`.
package final class PageDevices: PageFeature {
    /// The number of devices, which count until their last messages have been published.
    static let capacity = PageCapacity(all: 128, forOperators: 16, ofSession: 16)
    /// The maximum size of a choice or a report in bytes.
    private static let requestLimit = 64 << 10

    package let kinds: [String: PageAudience] = ["device": .everybody]
    private let environment: PageEnvironment
    private let screens: AppScreens?
    /// The number of devices that were opened and have not ended. A device that was closed ends when its messages have
    /// been published.
    private let running = Mutex<[PageAccess: Int]>([:])
    /// The devices that were opened and do not run yet.
    private let (opened, opening) = AsyncStream.makeStream(of: (device: PageDevice, access: PageAccess).self)

    /// - Parameter screens: The screens with view models. Nil if no screen has a view model.
    package init(_ environment: PageEnvironment, screens: AppScreens?) {
        self.environment = environment
        self.screens = screens
    }

    package func addRoutes(to routes: PageRoutes) {
        routes.everybody.post("stream/:stream/device/:view", use: perform)
    }

    /// Runs the devices that the page opens.
    package func run(_ ready: Latch) async {
        ready.open()
        await withDiscardingTaskGroup { group in
            for await (device, access) in opened {
                group.addTask {
                    await withDiscardingTaskGroup { parts in
                        parts.addTask { await device.run() }
                        parts.addTask { await device.publish() }
                    }
                    self.deviceHasEnded(of: access)
                }
            }
        }
    }

    // MARK: Views

    /// - Throws: ``RequestError`` if the request is malformed, if the stream is unknown, or if there are too many views
    ///   or devices.
    package func open(_ view: ViewRequest) async throws {
        let identity = try identity(view)
        let access = view.name.stream.access
        try startDevice(for: access)
        let isReadOnly = environment.hub.identity.isReadOnly
        let device = DeviceView { update in
            PageDevice(
                identity, screens: screens, isResumed: view["resumed"]?.boolValue ?? false, isReadOnly: isReadOnly,
                bus: environment.bus, logger: environment.logger, clock: environment.clock, update: update)
        }
        do {
            try await environment.hub.open(device, as: view.name)
        } catch {
            deviceHasEnded(of: access)
            throw error
        }
        opening.yield((device.device, access))
    }

    private func identity(_ view: ViewRequest) throws(RequestError) -> DeviceIdentity {
        guard let platform = view["platform"]?.stringValue, !platform.isEmpty, platform.utf8.count <= 255 else {
            throw .malformed("a device needs a 'platform', such as ios")
        }
        let session = try view.session()
        let device = try (view["device"]?.stringValue ?? "").checkedName(lengths: 1...40, of: "a device's name")
        return DeviceIdentity(platform: platform, device: device, subject: session, source: environment.bus.source)
    }

    private func startDevice(for access: PageAccess) throws(RequestError) {
        let hasStarted = running.withLock { running in
            guard Self.capacity.hasRoom(for: access, beside: running) else { return false }
            running[access, default: 0] += 1
            return true
        }
        guard hasStarted else { throw Self.capacity.error("devices", "close some of them") }
    }

    func deviceHasEnded(of access: PageAccess) {
        running.withLock { running in
            let left = running[access, default: 0] - 1
            running[access] = left > 0 ? left : nil
        }
    }

    // MARK: Requests

    private func perform(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let stream = StreamName(try context.parameters.require("stream"), for: try context.signedIn())
        let id = try context.parameters.require("view")
        guard let view = await environment.hub.view(ViewName(stream: stream, id: id)) as? DeviceView else {
            throw RequestError.notFound("there is no device '\(id)' in the stream '\(stream.id)'")
        }
        try await view.device.perform(try await request.jsonText(upTo: Self.requestLimit))
        return .done
    }
}

/// A device with the updates that its page has not received yet. The device stops when the view is closed.
final class DeviceView: StreamView {
    let device: PageDevice
    private let updates: PageView<DeviceUpdates>

    /// - Parameter make: Makes the device from a function that changes what the page is to be sent.
    init(_ make: (@escaping @Sendable (@Sendable (inout DeviceUpdates) -> Void) async -> Void) -> PageDevice) {
        let updates = PageView(DeviceUpdates())
        self.updates = updates
        device = make { updates.change($0) }
    }

    var hasNews: Bool { updates.hasNews }

    func dequeueUpdate(size: Int) -> [UInt8]? { updates.dequeueUpdate(size: size) }

    func open(_ signal: StreamSignal) { updates.open(signal) }

    func close() {
        updates.close()
        device.stop()
    }
}
