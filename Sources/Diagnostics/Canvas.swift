// SPDX-License-Identifier: Apache-2.0

import CEarshotCairo
import Glibc

/// A rectangle in pixels; `x` and `y` are those of its top left corner.
struct Box {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }
}

/// A white image to draw on with Cairo and save as PNG. For one thread at a time.
final class Canvas {
    enum Align { case left, centre, right }

    let width: Int
    let height: Int
    private let surface: OpaquePointer
    private let context: OpaquePointer

    init(width: Int, height: Int) throws(CallPictureError) {
        guard let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, CInt(width), CInt(height)),
            let context = cairo_create(surface)
        else { throw .notDrawn(reason: "no surface") }
        self.width = width
        self.height = height
        self.surface = surface
        self.context = context
        cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL)
        fill(Box(x: 0, y: 0, width: Double(width), height: Double(height)), Colour(1, 1, 1))
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
    }

    private func use(_ colour: Colour, _ alpha: Double = 1) {
        cairo_set_source_rgba(context, colour.red, colour.green, colour.blue, alpha)
    }

    func fill(_ box: Box, _ colour: Colour, alpha: Double = 1) {
        use(colour, alpha)
        cairo_rectangle(context, box.x, box.y, box.width, box.height)
        cairo_fill(context)
    }

    func frame(_ box: Box, _ colour: Colour) {
        use(colour)
        cairo_set_line_width(context, 1)
        cairo_rectangle(context, box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1)
        cairo_stroke(context)
    }

    func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: Colour, width: Double = 1,
        dash: Double = 0, alpha: Double = 1
    ) {
        use(colour, alpha)
        cairo_set_line_width(context, width)
        var pattern = dash
        if dash > 0 { cairo_set_dash(context, &pattern, 1, 0) }
        cairo_move_to(context, x1, y1)
        cairo_line_to(context, x2, y2)
        cairo_stroke(context)
        cairo_set_dash(context, nil, 0, 0)
    }

    func polygon(_ points: [(x: Double, y: Double)], _ colour: Colour) {
        use(colour)
        cairo_new_path(context)  // drawing text leaves a current point, from which a line would begin
        for point in points { cairo_line_to(context, point.x, point.y) }
        cairo_close_path(context)
        cairo_fill(context)
    }

    /// Draws text with its baseline at `y`. Returns the text's width in pixels.
    @discardableResult
    func text(
        _ string: String, _ x: Double, _ y: Double, size: Double = 13, _ colour: Colour, align: Align = .left,
        bold: Bool = false
    ) -> Double {
        let length = measure(string, size: size, bold: bold)
        let left = align == .left ? x : align == .centre ? x - length / 2 : x - length
        use(colour)
        cairo_move_to(context, left, y)
        cairo_show_text(context, string)
        return length
    }

    /// Returns the text; if it is wider than `width`, an ellipsis replaces its middle.
    func fitted(_ string: String, width: Double, size: Double, bold: Bool = false) -> String {
        var keptCount = string.count
        var result = string
        while keptCount > 2, measure(result, size: size, bold: bold) > width {
            keptCount -= 1
            result = string.prefix(keptCount / 2) + "…" + string.suffix(keptCount - keptCount / 2 - 1)
        }
        return result
    }

    /// Returns the width of a text in pixels. Also selects the text's font for drawing.
    func measure(_ string: String, size: Double, bold: Bool = false) -> Double {
        cairo_select_font_face(
            context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
        cairo_set_font_size(context, size)
        var extents = cairo_text_extents_t()
        cairo_text_extents(context, string, &extents)
        return extents.x_advance
    }

    /// Draws an image without scaling, with its top left corner at (`x`, `y`). The pixels are 0x00RRGGBB, row by row from the
    /// top.
    func image(_ pixels: [UInt32], width: Int, height: Int, x: Double, y: Double) {
        precondition(pixels.count == width * height)
        guard let image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, CInt(width), CInt(height)),
            cairo_surface_status(image) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(image)
        else { return }
        cairo_surface_flush(image)
        let stride = Int(cairo_image_surface_get_stride(image))
        pixels.withUnsafeBytes { from in
            guard let base = from.baseAddress else { return }
            for row in 0..<height { memcpy(data + row * stride, base + row * width * 4, width * 4) }
        }
        cairo_surface_mark_dirty(image)
        cairo_set_source_surface(context, image, x, y)
        cairo_rectangle(context, x, y, Double(width), Double(height))
        cairo_fill(context)
        cairo_surface_destroy(image)
    }

    /// Writes a PNG file. A new file has mode 0600; an existing file is overwritten in place.
    func save(to path: String) throws(CallPictureError) {
        let drawingStatus = cairo_status(context)
        guard drawingStatus == CAIRO_STATUS_SUCCESS else { throw .notDrawn(reason: Self.reason(drawingStatus)) }
        var file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .notWritten(path: path, code: errno) }
        let status = cairo_surface_write_to_png_stream(
            surface,
            { file, bytes, count in
                guard let file = file?.assumingMemoryBound(to: CInt.self).pointee else {
                    return CAIRO_STATUS_WRITE_ERROR
                }
                var done = 0
                while done < Int(count) {
                    let written = write(file, bytes.map { $0 + done }, Int(count) - done)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { return CAIRO_STATUS_WRITE_ERROR }
                    done += written
                }
                return CAIRO_STATUS_SUCCESS
            }, &file)
        let code = errno
        let closed = close(file)
        if status == CAIRO_STATUS_WRITE_ERROR { throw .notWritten(path: path, code: code) }
        guard status == CAIRO_STATUS_SUCCESS else { throw .notDrawn(reason: Self.reason(status)) }
        if closed != 0 { throw .notWritten(path: path, code: errno) }
    }

    private static func reason(_ status: cairo_status_t) -> String {
        cairo_status_to_string(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
    }
}
