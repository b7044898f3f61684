//! Shows how the SDK reads a document: what guest-sdk/internal/jsontest asks of a driver.

use weir::{Document, Json, Kind, Value};

#[link(wasm_import_module = "extism:host/user")]
extern "C" {
    fn weir_input_read(ptr: *mut u8, offset: u32, len: u32) -> u32;
    fn weir_output_write(ptr: *const u8, len: u32);
    fn weir_error(ptr: *const u8, len: u32);
}

#[no_mangle]
pub extern "C" fn read() -> i32 {
    let input = unsafe {
        let mut b = vec![0; weir_input_read(std::ptr::null_mut(), 0, 0) as usize];
        if !b.is_empty() {
            weir_input_read(b.as_mut_ptr(), 0, b.len() as u32);
        }
        b
    };
    match Document::from_bytes(input) {
        Ok(d) => {
            let out = show(d.value());
            unsafe { weir_output_write(out.as_str().as_ptr(), out.as_str().len() as u32) };
            0
        }
        Err(e) => {
            let text = e.to_string();
            unsafe { weir_error(text.as_ptr(), text.len() as u32) };
            1
        }
    }
}

fn show(v: Value) -> Json {
    match v.kind() {
        Kind::Absent | Kind::Null => Json::null(),
        Kind::Bool => v.as_bool().expect("a bool").into(),
        Kind::String => v.text().into_owned().into(),
        Kind::Array => {
            assert_eq!(v.at(v.items().count()).kind(), Kind::Absent);
            Json::array(v.items().map(show))
        }
        Kind::Object => {
            let members = v.entries().map(|(key, e)| {
                assert_eq!(v.get(&key).raw(), e.raw(), "get and entries differ");
                Json::array([Json::from(&*key), show(e)])
            });
            Json::array(std::iter::once(Json::from("object")).chain(members))
        }
        Kind::Number => {
            // What is out of range reads as None; the driver's contract wants the bits that encoding/json's parser gives.
            let bits = v.as_f64().unwrap_or_else(|| if v.raw().starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }).to_bits();
            Json::object([("raw", Json::from(v.raw())), ("int", v.as_i64().map_or(Json::null(), Json::from)), ("bits", format!("{:016x}", bits).into())])
        }
    }
}
