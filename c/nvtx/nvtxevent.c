/* nvtxevent.c - attributes of any size, messages of every kind, payloads of every type.
 *
 * Structs and arrays of NVTX's payload extension are described to tools that know the extension. Others, like this one,
 * see a type that they do not know, and leave the payload alone.
 * SPDX-License-Identifier: MIT */
#include "nvtxevent.h"

#include "nvtxcategory.h"

#define NAME_MOST 4096u
#define REPLACEMENT 0xfffdu /* for what is no character */

#define HAS(attributes, field) ((attributes)->size >= offsetof(dft__nvtx_attributes, field) + sizeof(attributes)->field)

/* ---- Texts ---------------------------------------------------------------------------------------------------------- */

size_t dft__nvtx_text_len(const char *text) {
  return text ? strnlen(text, NAME_MOST + 4) : 0;
}

static size_t put_character(char *to, uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = REPLACEMENT;
  if (code < 0x80) {
    to[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    to[0] = (char)(0xc0 | code >> 6);
    to[1] = (char)(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
  }
  to[0] = (char)(0xf0 | code >> 18);
  to[1] = (char)(0x80 | (code >> 12 & 0x3f));
  to[2] = (char)(0x80 | (code >> 6 & 0x3f));
  to[3] = (char)(0x80 | (code & 0x3f));
  return 4;
}

size_t dft__nvtx_text_narrow(char text[DFT__NVTX_TEXT_MOST], const wchar_t *wide) {
  size_t len = 0;
  while (wide && *wide && len + 4 <= DFT__NVTX_TEXT_MOST) len += put_character(text + len, (uint32_t)*wide++);
  return len;
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

/* Without what only some events have: the text is large. */
static void clear(dft__nvtx_event *event, const dft__nvtx_name *domain) {
  event->domain = domain;
  event->site = NULL;
  event->name = NULL;
  event->name_len = 0;
  event->arg_count = 0;
}

void dft__nvtx_event_copy_name(const dft__nvtx_event *event, char *text, size_t size) {
  size_t len = event->name_len < size ? event->name_len : size - 1;
  while (len && len < event->name_len && (event->name[len] & 0xc0) == 0x80) len--;
  if (len) memcpy(text, event->name, len);
  text[len] = '\0';
}

void dft__nvtx_event_ascii(dft__nvtx_event *event, const char *message) {
  clear(event, dft__nvtx_name_domain(NULL));
  event->name = message;
  event->name_len = dft__nvtx_text_len(message);
}

void dft__nvtx_event_wide(dft__nvtx_event *event, const wchar_t *message) {
  clear(event, dft__nvtx_name_domain(NULL));
  event->name = event->text;
  event->name_len = dft__nvtx_text_narrow(event->text, message);
}

/* A string of another domain gives its text, but this event's domain is its category. */
static void take_registered(dft__nvtx_event *event, dft__nvtx_handle handle) {
  dft__nvtx_name *string = dft__nvtx_name_string(handle);
  if (!string) return;
  event->name = string->site.name;
  event->name_len = string->len;
  if (string->scope == event->domain->number) event->site = &string->site;
}

static void take_message(dft__nvtx_event *event, const dft__nvtx_attributes *attributes) {
  switch (attributes->message_type) {
    case DFT__NVTX_MESSAGE_ASCII:
      event->name = attributes->message.ascii;
      event->name_len = dft__nvtx_text_len(event->name);
      break;
    case DFT__NVTX_MESSAGE_UNICODE:
      event->name = event->text;
      event->name_len = dft__nvtx_text_narrow(event->text, attributes->message.unicode);
      break;
    case DFT__NVTX_MESSAGE_REGISTERED: take_registered(event, attributes->message.registered); break;
    default: break;
  }
}

static void take_payload(dft__nvtx_event *event, const dft__nvtx_attributes *attributes) {
  static dft_key key = DFT_KEY("payload");
  dft_arg *arg = &event->args[event->arg_count];
  *arg = (dft_arg){.key = &key};
  switch (attributes->payload_type) {
    case DFT__NVTX_PAYLOAD_UINT64: arg->value.u = attributes->payload.u64, arg->type = DFT_UINT; break;
    case DFT__NVTX_PAYLOAD_INT64: arg->value.i = attributes->payload.i64, arg->type = DFT_INT; break;
    case DFT__NVTX_PAYLOAD_DOUBLE: arg->value.d = attributes->payload.d, arg->type = DFT_DOUBLE; break;
    case DFT__NVTX_PAYLOAD_UINT32: arg->value.u = attributes->payload.u32, arg->type = DFT_UINT; break;
    case DFT__NVTX_PAYLOAD_INT32: arg->value.i = attributes->payload.i32, arg->type = DFT_INT; break;
    case DFT__NVTX_PAYLOAD_FLOAT: arg->value.d = (double)attributes->payload.f, arg->type = DFT_DOUBLE; break;
    default: return;
  }
  event->arg_count++;
}

void dft__nvtx_event_read(dft__nvtx_event *event, dft__nvtx_handle domain, const dft__nvtx_attributes *attributes) {
  clear(event, dft__nvtx_name_domain(domain));
  if (!attributes) return;
  if (HAS(attributes, message)) take_message(event, attributes);
  if (HAS(attributes, category) && attributes->category)
    event->args[event->arg_count++] = dft__nvtx_category_arg(event->domain, attributes->category);
  if (HAS(attributes, payload)) take_payload(event, attributes);
}
